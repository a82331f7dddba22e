def read(data):
    return data.decode("utf-8")


read(b"caf\xe9 ole")
