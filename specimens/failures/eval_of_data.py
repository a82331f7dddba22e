def compute(formula):
    return eval(formula)


compute("1 +")
