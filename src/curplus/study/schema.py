"""The tables of a study file, and the steps that made them: an older file is brought up to date by the steps it lacks.

The version of a file is the number of its steps (``PRAGMA user_version``). A step is never changed once it is
published; what is new goes into a new step. All tables are strict, so that a text can never stand where a number
belongs, and triggers keep records from being changed or removed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

__all__ = ["APPLICATION_ID", "STEPS", "TABLES", "DamageError", "check_schema", "run_steps", "version_of"]


class DamageError(Exception):
    """A study file does not say what it should; told to users as a FileFormatError with its path."""


APPLICATION_ID = 0x43555253  # "CURS", in the header of the file

#: Tables in the order in which they refer to each other, with their columns: what an export writes and an import reads.
TABLES = {
    "study": ("id", "n", "m", "settings", "created", "clock", "n_values", "n_failed", "n_unasked", "spent"),
    "names": ("axis", "position", "name"),
    "lists": ("id", "asked_at", "asked_by", "purpose", "budget", "price", "n_cells", "n_pending", "expires"),
    "lines": ("id", "list", "axis", "position", "design", "reason"),
    "asked": ("cell", "list", "role", "state"),
    "tells": ("id", "told_at", "told_by", "source", "digest", "n_values", "n_failed", "n_unasked"),
    "records": ("id", "tell", "cell", "value", "asked", "corrects", "note", "measured_at"),
    "rounds": ("id", "judged_at", "tell", "n_values", "spent", "error", "relative", "low", "high", "reason"),
}

_LEDGER = (
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        n INTEGER NOT NULL CHECK (n > 0),
        m INTEGER NOT NULL CHECK (m > 0),
        settings TEXT NOT NULL,
        created INTEGER NOT NULL,
        clock INTEGER NOT NULL,
        n_values INTEGER NOT NULL DEFAULT 0,
        n_failed INTEGER NOT NULL DEFAULT 0,
        n_unasked INTEGER NOT NULL DEFAULT 0,
        spent REAL NOT NULL DEFAULT 0
    ) STRICT""",
    """CREATE TABLE names (
        axis INTEGER NOT NULL CHECK (axis IN (0, 1)),
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (axis, position)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE lists (
        id INTEGER PRIMARY KEY,
        asked_at INTEGER NOT NULL,
        asked_by TEXT NOT NULL,
        purpose TEXT NOT NULL,
        budget REAL NOT NULL,
        price REAL NOT NULL,
        n_cells INTEGER NOT NULL,
        n_pending INTEGER NOT NULL,
        expires INTEGER
    ) STRICT""",
    """CREATE TABLE lines (
        id INTEGER PRIMARY KEY,
        list INTEGER NOT NULL REFERENCES lists,
        axis INTEGER NOT NULL CHECK (axis IN (0, 1)),
        position INTEGER NOT NULL,
        design TEXT NOT NULL,
        reason TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE asked (
        cell INTEGER NOT NULL,
        list INTEGER NOT NULL REFERENCES lists,
        role INTEGER NOT NULL,
        state INTEGER NOT NULL,
        PRIMARY KEY (cell, list)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX asked_of_list ON asked (list, state)",
    """CREATE TABLE tells (
        id INTEGER PRIMARY KEY,
        told_at INTEGER NOT NULL,
        told_by TEXT NOT NULL,
        source TEXT NOT NULL,
        digest TEXT NOT NULL,
        n_values INTEGER NOT NULL,
        n_failed INTEGER NOT NULL,
        n_unasked INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX tells_by_digest ON tells (digest)",
    """CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        tell INTEGER NOT NULL REFERENCES tells,
        cell INTEGER NOT NULL,
        value REAL,
        asked INTEGER NOT NULL,
        corrects INTEGER REFERENCES records,
        note TEXT,
        measured_at TEXT
    ) STRICT""",
    "CREATE UNIQUE INDEX corrections ON records (corrects) WHERE corrects IS NOT NULL",
    "CREATE TRIGGER records_stay BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never changed'); END",
    "CREATE TRIGGER records_last BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never removed'); END",
)

_ROUNDS = (
    """CREATE TABLE rounds (
        id INTEGER PRIMARY KEY,
        judged_at INTEGER NOT NULL,
        tell INTEGER NOT NULL,
        n_values INTEGER NOT NULL,
        spent REAL NOT NULL,
        error REAL,
        relative REAL,
        low REAL,
        high REAL,
        reason TEXT NOT NULL
    ) STRICT""",
)

#: Step k turns a file of version k into one of version k + 1; 0 is an empty file.
STEPS: tuple[tuple[str, ...], ...] = (_LEDGER, _ROUNDS)


def version_of(connection: sqlite3.Connection) -> int:
    """How many steps a file has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def run_steps(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Run the steps that a file lacks; within a transaction of the caller."""
    for statements in steps[version_of(connection) :]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(steps)}")


def check_schema(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Tables, indexes and triggers must be those of the steps, to the letter: a foreign trigger could do anything."""
    expected = {" ".join(statement.split()) for step in steps for statement in step}
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 1000").fetchall()
    if {" ".join(str(sql).split()) for (sql,) in found} != expected:
        raise DamageError("its tables, indexes or triggers are not those of a study")
