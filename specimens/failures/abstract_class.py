"""3.12 words this in another way."""

import abc


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


Shape()
