def clean(text, keep=""):
    return "".join(each for each in text if each.isalnum() or each in keep)
