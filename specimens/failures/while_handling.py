def read(settings):
    try:
        return settings["port"]
    except KeyError:
        return settings.default


read({})
