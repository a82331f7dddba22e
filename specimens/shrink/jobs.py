"""Print the jobs of a pipeline in the order in which they run: python jobs.py FILE"""

import sys
from graphlib import TopologicalSorter

import yaml

with open(sys.argv[1], encoding="utf-8") as f:
    pipeline = yaml.safe_load(f)
needs = {}
for name, job in pipeline["jobs"].items():
    if job["stage"] not in pipeline["stages"]:
        raise LookupError(f"{name} is of no stage")
    needs[name] = job.get("needs", [])
for name in TopologicalSorter(needs).static_order():
    print(name, pipeline["jobs"][name]["script"])
