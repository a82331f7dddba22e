"""Comparing a failure with a configuration or a set of packages that passes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import BadUsage
from whet.core.trial import Trial
from whet.workbench.delta.cases import Cases
from whet.workbench.delta.delta import delta
from whet.workbench.investigate.passing.good_trial import decision_sentence
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

if TYPE_CHECKING:
    from whet.workbench.bisect.packages import PackageSet


def good_configuration(
    bench: Workbench, request: TrialRequest, trial: Trial, good: str, *, output: str
) -> Cases | None:
    """Return a configuration with which a command passes beside its own; None: none is named.

    Args:
        bench: the workbench.
        request: the command, which names the other configuration.
        trial: the same, built.
        good: the configuration with which it passes; empty: none is named.
        output: folder for the results.

    Raises:
        BadUsage, PayloadMissing, SettingsUnreadable, NothingDiffers: before anything is run.
    """
    if not good:
        return None
    from whet.workbench.delta.delta_files import cases_of_files

    bad = _configuration_named(trial.cwd, request.command, good)
    return cases_of_files(bench, request, good, bad, output=output)


def _configuration_named(cwd: str, command: Sequence[str], good: str) -> str:
    """Return the word of a command that names the configuration to compare with ``good``.

    Raises:
        BadUsage: if there is none, or more than one that it may be.
    """
    suffix = Path(good).suffix
    words = [word for word in command[1:] if word != good and Path(word).suffix == suffix]
    paths = [word for word in words if Path(cwd, word).is_file()]
    if len(paths) != 1:
        count = f"{len(paths)} files" if paths else "no file"
        raise BadUsage(
            f"`--good-config {good}`: the command names {count} that ends in `{suffix}`",
            hint=f"compare the two files: `whet delta {good} BAD -- COMMAND {{}}`",
        )
    return paths[0]


def deciding_settings(session: Session, cases: Cases, options: CommandOptions) -> str:
    """Find the settings that decide between two configurations, and say them in a sentence.

    Raises:
        EndMisjudged: if both pass, or both fail.
    """
    return decision_sentence(delta(session.bench, session.request, cases, options, part_of=session))


def deciding_packages(
    session: Session, request: TrialRequest, good: "str | PackageSet", options: CommandOptions
) -> tuple[str, tuple[VersionSearch, ...]]:
    """Find the packages that decide between a set and what is installed now.

    Returns them in a sentence, and the search for the first bad release of each.

    Raises:
        NothingDiffers: if both are the same.
        EndMisjudged: if both pass, or both fail.
        ReleaseNotInstallable: if one of the two can't be installed.
    """
    from whet.workbench.bisect.packages import NOW, PackageOptions, bisect_packages

    limits = PackageOptions(good=good, bad=NOW, budget=options.budget, jobs=options.jobs)
    culprits = bisect_packages(session.bench, request, limits, within=session)
    return decision_sentence(culprits.delta), culprits.releases
