"""Headers and footers of pages."""


class Templated:
    header = "-- {title} --"

    def use(self, **names: str) -> None:
        self.names = names
        self.title = None

    def render(self, names: dict[str, object]) -> None:
        self.title = self.header.format(**{"title": "", **names})
