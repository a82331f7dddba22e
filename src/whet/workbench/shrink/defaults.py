"""`whet shrink config --towards defaults`: which settings of a configuration matter."""

from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage, SettingsUnreadable
from whet.reduction.preference import MEASURES
from whet.reduction.settings.documents import UnreadableError, data_of, document_kind_of
from whet.reduction.settings.towards import changes_towards
from whet.workbench.shrink.goals import Goals
from whet.workbench.shrink.shrink import ShrinkOptions, shrink
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import ShrunkPayload
from whet.workbench.trials.payload import read_payload
from whet.workbench.trials.request import TrialRequest


def shrink_towards(
    bench: Workbench, request: TrialRequest, options: ShrinkOptions, defaults: str
) -> tuple[ShrunkPayload, ...]:
    """Bring a configuration as near to its defaults as the failure lets it be.

    Args:
        bench: the workbench.
        request: the command.
        options: how to shrink.
        defaults: the file with the defaults, as the user named it.

    Raises:
        BadUsage: if there is more than one file, or nothing in which the two differ; if what is
            asked of the result can't be had of it.
        PayloadMissing, PayloadIsFolder, PayloadUnreadable: if one of the two can't be read.
        SettingsUnreadable: if one of the two doesn't parse.
        BaselineDoesNotFail: if the command passes.
    """
    if len(options.files) != 1:
        raise BadUsage(
            f"`--towards {defaults}` takes one file, not {len(options.files)}",
            hint="name only the configuration; shrink the others in another command",
        )
    _refuse_what_makes_smaller(defaults, options.wishes)
    (name,) = options.files
    folder = Path(request.cwd or bench.project.folder)
    configuration = read_payload(folder / name, name)
    base = read_payload(folder / defaults, defaults, may_be_empty=True)
    _check(name, name, configuration)
    _check(defaults, name, base)
    if not changes_towards(configuration, base, name=name):
        raise BadUsage(
            f"`{name}` has the same settings as `{defaults}`",
            hint="so no setting causes the failure: leave out `--towards` to make the file smaller",
        )
    return shrink(bench, request, replace(options, defaults=base))


def _refuse_what_makes_smaller(defaults: str, wishes: Goals) -> None:
    objective = wishes.objective if wishes.objective in MEASURES else ""
    options_given = [f"--keep {pattern}" for pattern in wishes.keep]
    options_given += [f"--objective {objective}"] if objective else []
    if options_given:
        raise BadUsage(
            f"`{options_given[0]}` says which smaller file is wanted, and `--towards {defaults}` asks for"
            " the fewest settings",
            hint=f"leave out `{options_given[0]}`, or `--towards`",
        )


def _check(shown_path: str, name: str, content: bytes) -> None:
    kind = document_kind_of(name)
    try:
        data_of(kind, content)
    except UnreadableError as error:
        assert kind is not None, "lines always parse"
        raise SettingsUnreadable(
            f"`{shown_path}` is not {kind.name}: {error}",
            hint="repair it, or give both files a name that ends in `.txt`, to compare their lines",
        ) from error
