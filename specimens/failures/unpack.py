def read(line):
    key, value = line.split("=")
    return key, value


read("a=b=c")
