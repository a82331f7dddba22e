"""`whet shrink` against shrinkray, picire, lithium and cvise: size, calls, seconds.

    python -m benchmarks.shrink.reducers [--cases NAME...] [--tools NAME...] [--limit SECONDS]
    python -m benchmarks.shrink.reducers --summary

Each tool gets the same file, the same oracle and as many jobs as there are cores, one after
the other on one machine. Each result is kept as JSON in `benchmarks/results/shrink` and is not
measured again while the case, the limit and the number of cores are the same; `--again` does:
after a change of whet, `--tools whet 'whet (warm)' --again`.
`--summary` writes the table and the picture of all that is there into the documentation, and
what `shrink_engine.py` has measured.
The peers and the programs that are the oracles are installed into environments of their own.
"""

import argparse
import hashlib
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.shrink.cases import Case, cases
from benchmarks.shrink.measured_run import JOBS, Point, Run, Workplace
from benchmarks.shrink.payloads import ROOT
from benchmarks.shrink.peers import install_cvise, install_oracles, install_peers
from benchmarks.shrink.report import RESULTS, Entry, print_case, print_summary, write_docs
from benchmarks.shrink.tools import TOOLS, Tool, measure


def main() -> None:
    """Run the benchmark."""
    options = _options()
    # As Ctrl-C does: what a tool has started is ended too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if not options.summary:
        if why_not := install_oracles():
            sys.exit(f"the programs to be shrunk for cannot be installed: {why_not}")
        missing = _missing(options.tools)
        for case in cases():
            if case.name in options.cases:
                tools = [each for each in TOOLS if each.name in options.tools]
                _measure_case(case, tools, missing, options)
    settings = f"{options.limit:g} s, {JOBS} jobs"
    entries = [entry for entry in _kept() if entry.key.endswith(f", {settings}")]
    print_summary(entries)
    if options.summary:
        write_docs(entries)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [case.name for case in cases()]
    tools = [tool.name for tool in TOOLS]
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--tools", nargs="+", choices=tools, default=tools, metavar="NAME")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a tool and a case")
    parser.add_argument("--again", action="store_true", help="measure what is known, too")
    parser.add_argument("--summary", action="store_true", help="write the docs; measure nothing")
    return parser.parse_args()


def _missing(tools: Sequence[str]) -> dict[str, str]:
    """Install the peers that are asked for; return why some are not there."""
    of_python = {"shrinkray", "picire", "lithium"} & set(tools)
    why_not = {name: reason for name in of_python if (reason := install_peers())}
    if "cvise" in tools and (reason := install_cvise()):
        why_not["cvise"] = reason
    return why_not


def _measure_case(
    case: Case, tools: Sequence[Tool], missing: dict[str, str], options: argparse.Namespace
) -> None:
    """Run each tool on one case; keep what each made as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as name:
        payload = Path(name) / case.name
        if case.is_folder:
            payload.mkdir()
        case.make(payload)
        place = Workplace(Path(name), case)
        if not place.judge(payload):
            print(f"\nskipped: {case.name}: the file as it is made here does not fail so")
            return
        key = ""
        for tool in tools:
            entry = _entry(case, tool, payload, options)
            path = _place_of(case, tool)
            known = _read(path)
            if known is None or known.key != entry.key or options.again:
                entry.run = _run(case, tool, payload, missing, options.limit)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(asdict(entry), indent=1, ensure_ascii=False) + "\n")
            key = entry.key
    print_case([each for each in _kept() if each.case == case.name and each.key == key])


def _run(
    case: Case, tool: Tool, payload: Path, missing: dict[str, str], limit_seconds: float
) -> Run:
    if why_not := missing.get(tool.name) or tool.refuses(case):
        return Run(remark=f"skipped: {why_not}")
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as name:
        place = Workplace(Path(name), case)
        place.prepare(payload)
        return measure(tool, place, limit_seconds)


def _entry(case: Case, tool: Tool, payload: Path, options: argparse.Namespace) -> Entry:
    if case.is_folder:
        files = sorted(each for each in payload.rglob("*") if each.is_file())
    else:
        files = [payload]
    content = [each.read_bytes() for each in files]
    code = [Path(word).read_bytes() for word in case.program if word.endswith(".py")]
    judge = case.judge.replace(str(ROOT), "").encode()
    digest = hashlib.sha256(b"".join([*content, *code, judge])).hexdigest()[:12]
    return Entry(
        case=case.name,
        about=case.about,
        tool=tool.name,
        before=sum(map(len, content)),
        key=f"{digest}, {options.limit:g} s, {JOBS} jobs",
        run=Run(),
    )


def _kept() -> Iterator[Entry]:
    """Yield what is known, in the order of the cases and the tools."""
    for case in cases():
        for tool in TOOLS:
            entry = _read(_place_of(case, tool))
            if entry is not None:
                yield entry


def _place_of(case: Case, tool: Tool) -> Path:
    words = "".join(letter if letter.isalnum() else "-" for letter in f"{case.name} {tool.name}")
    return RESULTS / f"{words.rstrip('-')}.json"


def _read(path: Path) -> Entry | None:
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    run = data.pop("run")
    points = [Point(**each) for each in run.pop("points")]
    return Entry(**data, run=Run(**run, points=points))


if __name__ == "__main__":
    main()
