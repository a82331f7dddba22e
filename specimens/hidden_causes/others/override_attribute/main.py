"""A page with a title."""


class Page:
    def title(self):
        return "untitled"

    def head(self):
        return f"<h1>{self.title()}</h1>"


class Report(Page):
    title = "Sales"


print(Report().head())
