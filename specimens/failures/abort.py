import faulthandler
import os

faulthandler.enable()


def give_up():
    os.abort()


give_up()
