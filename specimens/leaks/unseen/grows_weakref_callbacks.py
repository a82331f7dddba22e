"""Each subscriber is only weakly held, but its callback stays registered in a long-lived subject."""

import weakref


class Subject:
    def __init__(self):
        self.finalizers = []


class View:
    def __init__(self, name):
        self.name = name


subject = Subject()


def open_view(number):
    view = View("view {}".format(number))
    details = ["detail"] * 60
    subject.finalizers.append(weakref.ref(view, lambda _, details=details: details.clear()))
    return view.name


names = 0
for number in range(300):
    names += len(open_view(number))
print(names)
