import no_such_module_anywhere


def test_nothing():
    no_such_module_anywhere.start()
