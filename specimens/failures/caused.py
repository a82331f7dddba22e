class ConfigError(Exception):
    pass


def read(settings):
    try:
        return settings["port"]
    except KeyError as error:
        raise ConfigError("no port given") from error


read({})
