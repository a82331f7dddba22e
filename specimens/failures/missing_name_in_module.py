from json import no_such_name

no_such_name()
