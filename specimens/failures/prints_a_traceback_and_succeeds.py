import traceback

try:
    {}["a"]
except KeyError:
    traceback.print_exc()
