"""Each job has a log of its own."""

import logging
import resource
import tempfile
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (60, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
FOLDER = Path(tempfile.mkdtemp())


def log_of(job):
    log = logging.getLogger(f"job.{job}")
    log.addHandler(logging.FileHandler(FOLDER / f"{job}.log"))
    return log


def run(job):
    log_of(job).warning("begins")
    return job


done = [run(job) for job in range(50)]
parts = [open(FOLDER / f"part-{number}", "w") for number in range(10)]
