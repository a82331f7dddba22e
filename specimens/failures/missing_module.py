import no_such_module_anywhere

no_such_module_anywhere.start()
