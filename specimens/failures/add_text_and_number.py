def label(number):
    return "no. " + number


label(3)
