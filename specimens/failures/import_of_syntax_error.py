def load():
    import syntax_error

    return syntax_error


load()
