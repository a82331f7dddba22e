"""The tables of the notebook, as one SQL text with its reasons, and their reference page.

If you change the schema: add a migration, raise SCHEMA_VERSION with a line of its history,
run `make docs-generate`.
"""

SCHEMA_VERSION = 3
"""Kept in the file as `PRAGMA user_version`.

1: trials, outcomes, judgements, investigations, evidence, environments.
2: what trials used while they ran.
3: the payloads that `whet make` has made.
"""

APPLICATION_ID = int.from_bytes(b"whet", "big")
"""Part of the file's header, so that whet takes no other program's database for a notebook."""

FIRST_SCHEMA = """\
-- If you change the schema: add a migration, raise SCHEMA_VERSION, run `make docs-generate`.
--
-- All rows are only ever added. What becomes known later stands in a table of its own.
-- Times are UTC, ISO 8601 with microseconds. Digests are SHA-256 in hexadecimal; those of
-- payloads and captured streams name a file in `blobs/`.

-- Each change of these tables, written in the transaction that made it.
CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    description TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    whet_version TEXT NOT NULL
) STRICT;

-- A question asked by a verb that runs many trials.
CREATE TABLE investigation (
    number INTEGER PRIMARY KEY,
    started_at TEXT NOT NULL,
    verb TEXT NOT NULL,           -- such as shrink
    trial TEXT NOT NULL,          -- JSON of the trial that the search starts from
    whet_version TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
) STRICT;

-- Its end. An investigation without one was killed, or still goes on.
CREATE TABLE investigation_end (
    investigation INTEGER PRIMARY KEY REFERENCES investigation (number),
    ended_at TEXT NOT NULL,
    stop_reason TEXT NOT NULL,    -- name of a StopReason
    result TEXT NOT NULL          -- JSON; its shape is the verb's own
) STRICT;

-- A trial, written before it starts.
CREATE TABLE trial (
    number INTEGER PRIMARY KEY,   -- what the user calls it by
    started_at TEXT NOT NULL,
    key TEXT NOT NULL,            -- digest of all that decides the outcome of a run that ends in time
    command_digest TEXT NOT NULL, -- of command and folder: finds the trial before this one
    trial TEXT NOT NULL,          -- JSON
    verb TEXT NOT NULL,           -- who ran it, such as run
    name TEXT NOT NULL,           -- '': none
    note TEXT NOT NULL,           -- what its author thought; '': nothing
    expectation TEXT NOT NULL,    -- what its author expected, a line each; '': nothing
    changes TEXT NOT NULL,        -- what changed since the trial before; '': nothing or unknown
    investigation INTEGER REFERENCES investigation (number), -- NULL: run by itself
    whet_version TEXT NOT NULL,
    host TEXT NOT NULL,           -- where whet ran, and as which process
    pid INTEGER NOT NULL
) STRICT;
CREATE INDEX trial_by_key ON trial (key);
CREATE INDEX trial_by_command ON trial (command_digest);
CREATE INDEX trial_by_name ON trial (name);
CREATE INDEX trial_by_investigation ON trial (investigation);

-- What came of it. A trial without one was interrupted: whet was killed, or still runs it.
CREATE TABLE outcome (
    trial INTEGER PRIMARY KEY REFERENCES trial (number),
    ended_at TEXT NOT NULL,
    outcome TEXT NOT NULL,        -- JSON; the streams by digest
    exit_code INTEGER,            -- NULL: ended by a signal or a time limit
    signal INTEGER,               -- NULL: ended by itself
    timed_out INTEGER NOT NULL CHECK (timed_out IN (0, 1)),
    interrupted INTEGER NOT NULL CHECK (interrupted IN (0, 1)), -- given up: proves nothing
    wall_seconds REAL NOT NULL,
    cpu_seconds REAL NOT NULL,
    peak_rss_bytes INTEGER NOT NULL,
    signature TEXT                -- digest of the failure's signature; NULL: no failure
) STRICT;
CREATE INDEX outcome_by_signature ON outcome (signature) WHERE signature IS NOT NULL;

-- What an oracle said of an outcome. There may be many; the last one counts.
CREATE TABLE judgement (
    number INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL REFERENCES outcome (trial),
    judged_at TEXT NOT NULL,
    oracle TEXT NOT NULL,         -- completes "bad means ..."
    verdict TEXT NOT NULL CHECK (verdict IN ('good', 'bad', 'skip')),
    expectation_met INTEGER CHECK (expectation_met IN (0, 1)) -- all of it; NULL: none, or cannot be told
) STRICT;
CREATE INDEX judgement_by_trial ON judgement (trial);

-- An observation kept with a trial.
CREATE TABLE evidence (
    number INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL REFERENCES trial (number),
    observed_at TEXT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,         -- JSON; its shape is the kind's own
    blob TEXT                     -- digest of what is too large for JSON; NULL: nothing is
) STRICT;
CREATE INDEX evidence_by_trial ON evidence (trial);

-- Environments that trials inherited, secrets masked.
CREATE TABLE environment (
    digest TEXT PRIMARY KEY,
    variables TEXT NOT NULL       -- JSON object
) STRICT;

-- The promise that nothing is ever changed, kept by SQLite itself.
CREATE TRIGGER investigation_stays BEFORE UPDATE ON investigation
BEGIN SELECT RAISE(ABORT, 'an investigation is never changed'); END;
CREATE TRIGGER investigation_is_kept BEFORE DELETE ON investigation
BEGIN SELECT RAISE(ABORT, 'an investigation is never removed'); END;
CREATE TRIGGER investigation_end_stays BEFORE UPDATE ON investigation_end
BEGIN SELECT RAISE(ABORT, 'the end of an investigation is never changed'); END;
CREATE TRIGGER investigation_end_is_kept BEFORE DELETE ON investigation_end
BEGIN SELECT RAISE(ABORT, 'the end of an investigation is never removed'); END;
CREATE TRIGGER trial_stays BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'a trial is never changed'); END;
CREATE TRIGGER trial_is_kept BEFORE DELETE ON trial
BEGIN SELECT RAISE(ABORT, 'a trial is never removed'); END;
CREATE TRIGGER outcome_stays BEFORE UPDATE ON outcome
BEGIN SELECT RAISE(ABORT, 'an outcome is never changed'); END;
CREATE TRIGGER outcome_is_kept BEFORE DELETE ON outcome
BEGIN SELECT RAISE(ABORT, 'an outcome is never removed'); END;
CREATE TRIGGER judgement_stays BEFORE UPDATE ON judgement
BEGIN SELECT RAISE(ABORT, 'a judgement is never changed'); END;
CREATE TRIGGER judgement_is_kept BEFORE DELETE ON judgement
BEGIN SELECT RAISE(ABORT, 'a judgement is never removed'); END;
CREATE TRIGGER evidence_stays BEFORE UPDATE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is never changed'); END;
CREATE TRIGGER evidence_is_kept BEFORE DELETE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is never removed'); END;
CREATE TRIGGER environment_stays BEFORE UPDATE ON environment
BEGIN SELECT RAISE(ABORT, 'an environment is never changed'); END;
CREATE TRIGGER environment_is_kept BEFORE DELETE ON environment
BEGIN SELECT RAISE(ABORT, 'an environment is never removed'); END;
"""
"""The tables of version 1."""

RESOURCE_USE = """
-- What a trial used while it ran, seen from time to time. Too short a trial has none.
CREATE TABLE resource_use (
    trial INTEGER PRIMARY KEY REFERENCES outcome (trial),
    peak_files INTEGER NOT NULL,  -- open file descriptors at one moment
    written_bytes INTEGER NOT NULL, -- towards disks
    record TEXT NOT NULL          -- JSON: seconds, memory_bytes, cpu_seconds ... as columns
) STRICT;
CREATE TRIGGER resource_use_stays BEFORE UPDATE ON resource_use
BEGIN SELECT RAISE(ABORT, 'what a trial used is never changed'); END;
CREATE TRIGGER resource_use_is_kept BEFORE DELETE ON resource_use
BEGIN SELECT RAISE(ABORT, 'what a trial used is never removed'); END;
"""
"""The tables that version 2 adds."""

MADE = """
-- A payload that `whet make` wrote: it tells where a value came from that turns up elsewhere.
CREATE TABLE made (
    number INTEGER PRIMARY KEY,
    made_at TEXT NOT NULL,
    file TEXT NOT NULL,           -- absolute path
    command TEXT NOT NULL,        -- as one types it
    detail TEXT NOT NULL          -- JSON: kind, fill, dtype, shape ...
) STRICT;
CREATE TRIGGER made_stays BEFORE UPDATE ON made
BEGIN SELECT RAISE(ABORT, 'what was made is never changed'); END;
CREATE TRIGGER made_is_kept BEFORE DELETE ON made
BEGIN SELECT RAISE(ABORT, 'what was made is never removed'); END;
"""
"""The table that version 3 adds."""

SCHEMA = FIRST_SCHEMA + RESOURCE_USE + MADE
"""All current tables."""

_PAGE = """\
# The notebook's schema

<!-- Written by `make docs-generate` from `src/whet/notebook/schema.py`. -->

The notebook is a file `notebook.db`, an SQLite database in WAL mode, version {version}; `whet notebook` says where.
Any SQLite client may read it, also while whet runs:

```console
$ sqlite3 -readonly NOTEBOOK "SELECT number, started_at, verb FROM trial"
```

Large things (payloads, captured output) are files in the folder `blobs/`, named by the SHA-256 of
what they hold: the first two hexadecimal digits name the folder, the rest the file.

```sql
{schema}```
"""


def page() -> str:
    """Return `docs/reference/schema.md`."""
    return _PAGE.format(version=SCHEMA_VERSION, schema=SCHEMA)
