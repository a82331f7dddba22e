"""``whet explain``: the page of an error."""

import inspect

import click

from whet.cli.console import answer, answer_json, answer_lines
from whet.core.errors import UnknownPage, WhetError, error_classes


@click.command()
@click.argument("slug", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(slug: str | None, *, as_json: bool) -> None:
    """Show the page of an error, or list the pages."""
    pages = {error.slug: error for error in error_classes()}
    if slug is None:
        _list(pages, as_json=as_json)
        return
    if slug not in pages:
        import difflib

        near = difflib.get_close_matches(slug, pages, n=1, cutoff=0.4)
        hint = f"did you mean `{near[0]}`?" if near else "`whet explain` lists the pages"
        raise UnknownPage(f"there is no page `{slug}`", hint=hint)
    text = inspect.cleandoc(pages[slug].__doc__ or "")
    if as_json:
        answer_json({"slug": slug, "exit_code": pages[slug].exit_code, "text": text})
        return
    answer_lines(f"{slug} (exit code {pages[slug].exit_code})\n\n{text}")


def _list(pages: dict[str, type[WhetError]], *, as_json: bool) -> None:
    summaries = {
        slug: inspect.cleandoc(error.__doc__ or "").splitlines()[0] for slug, error in pages.items()
    }
    if as_json:
        answer_json({"pages": summaries})
        return
    width = max(map(len, summaries))
    for slug, summary in summaries.items():
        answer(f"{slug:{width}}  {summary}")
