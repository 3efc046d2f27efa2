"""The tables of a study file, and the digest of all that is in them.

All tables are strict, so that a text can never stand where a number belongs, and triggers keep records from being
changed or removed. A cell is the number ``row * WIDTH + column``, so that it stays the same when rows and columns are
added.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable
from typing import Any

__all__ = ["APPLICATION_ID", "SCHEMA", "TABLES", "VERSION", "WIDTH", "DamageError", "check_schema", "insert", "last_id"]


class DamageError(Exception):
    """A study file does not hold what was written; shown to users as a FileFormatError with its path."""


APPLICATION_ID = 0x43555253  # "CURS", in the header of the file
VERSION = 4  # of the tables
WIDTH = 2**31  # places of a row in the number of a cell; also the longest side of a matrix

#: Tables in the order in which they refer to each other.
TABLES = (
    *("study", "changes", "names", "lists", "lines", "asked", "forbidden", "tells", "records", "promises", "rounds"),
)

SCHEMA = (
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY CHECK (id = 1), created INTEGER NOT NULL, digest INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE changes (
        id INTEGER PRIMARY KEY, changed_at INTEGER NOT NULL, changed_by TEXT NOT NULL,
        n INTEGER NOT NULL CHECK (n > 0), m INTEGER NOT NULL CHECK (m > 0), settings TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE names (
        id INTEGER PRIMARY KEY, change INTEGER NOT NULL REFERENCES changes,
        axis INTEGER NOT NULL CHECK (axis IN (0, 1)), position INTEGER NOT NULL, name TEXT, retired INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE lists (
        id INTEGER PRIMARY KEY, asked_at INTEGER NOT NULL, asked_by TEXT NOT NULL, purpose TEXT NOT NULL,
        budget REAL NOT NULL, price REAL NOT NULL, n_cells INTEGER NOT NULL, n_pending INTEGER NOT NULL,
        expires INTEGER
    ) STRICT""",
    """CREATE TABLE lines (
        id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists,
        axis INTEGER NOT NULL CHECK (axis IN (0, 1)), position INTEGER NOT NULL, design TEXT NOT NULL,
        reason TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE asked (
        cell INTEGER NOT NULL, list INTEGER NOT NULL REFERENCES lists, role INTEGER NOT NULL, state INTEGER NOT NULL,
        place INTEGER NOT NULL, PRIMARY KEY (cell, list)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE forbidden (
        list INTEGER NOT NULL REFERENCES lists, kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
        position INTEGER NOT NULL, PRIMARY KEY (list, kind, position)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX asked_of_list ON asked (list, state)",
    """CREATE TABLE tells (
        id INTEGER PRIMARY KEY, told_at INTEGER NOT NULL, told_by TEXT NOT NULL, source TEXT NOT NULL,
        history INTEGER NOT NULL, design TEXT NOT NULL, n_values INTEGER NOT NULL, n_failed INTEGER NOT NULL,
        n_unasked INTEGER NOT NULL, spent REAL NOT NULL
    ) STRICT""",
    """CREATE TABLE records (
        id INTEGER PRIMARY KEY, tell INTEGER NOT NULL REFERENCES tells, cell INTEGER NOT NULL, value REAL,
        side INTEGER NOT NULL CHECK (side IN (-1, 0, 1)), list INTEGER REFERENCES lists, asked INTEGER NOT NULL,
        corrects INTEGER REFERENCES records, note TEXT, measured_at TEXT
    ) STRICT""",
    """CREATE TABLE promises (
        id INTEGER PRIMARY KEY, tell INTEGER NOT NULL REFERENCES tells, record INTEGER NOT NULL REFERENCES records
    ) STRICT""",
    "CREATE UNIQUE INDEX corrections ON records (corrects) WHERE corrects IS NOT NULL",
    "CREATE INDEX records_of_list ON records (list, cell) WHERE list IS NOT NULL",
    "CREATE TRIGGER records_stay BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never changed'); END",
    "CREATE TRIGGER records_last BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never removed'); END",
    """CREATE TABLE rounds (
        id INTEGER PRIMARY KEY, judged_at INTEGER NOT NULL, tell INTEGER NOT NULL, n_values INTEGER NOT NULL,
        spent REAL NOT NULL, error REAL, relative REAL, low REAL, high REAL, reason TEXT NOT NULL
    ) STRICT""",
)


def check_schema(db: sqlite3.Connection) -> None:
    """Tables, indexes and triggers must be these, to the letter: a foreign trigger could do anything."""
    expected = {" ".join(statement.split()) for statement in SCHEMA}
    found = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 1000").fetchall()
    if {" ".join(str(sql).split()) for (sql,) in found} != expected:
        raise DamageError("its tables, indexes or triggers are not those of a study")


def last_id(db: sqlite3.Connection, table: str) -> int:
    """The largest number in a table; 0 if it is empty."""
    return int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add whole rows to a table."""
    for places, same in itertools.groupby(rows, key=len):
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * places)})", same)
