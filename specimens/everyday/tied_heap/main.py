"""Print the jobs of a workshop in the order of their priority."""

import json
from pathlib import Path

from jobs import Plan

HERE = Path(__file__).parent


def main():
    plan = Plan()
    for job in json.loads((HERE / "jobs.json").read_text()):
        plan.add(job)
    while plan:
        job = plan.next()
        print(f"{job['name']}: {job['hours']} h")


if __name__ == "__main__":
    main()
