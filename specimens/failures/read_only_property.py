"""3.10 and 3.11 each word this in another way."""


class Circle:
    @property
    def area(self):
        return 1


def grow(circle):
    circle.area = 2


grow(Circle())
