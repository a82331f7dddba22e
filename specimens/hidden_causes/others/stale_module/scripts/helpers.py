def clean(text):
    return "".join(each for each in text if each.isalnum())
