"""The tables of a study file, and the digest of all that is in them.

All tables are strict, so that a text can never stand where a number belongs, and triggers keep records from being
changed or removed. A cell is the number ``row * WIDTH + column``, so that it stays the same when rows and columns are
added.

SQLite itself does not notice that a byte of a value was changed. The digest is a sum over all rows of all tables, so
that each transaction carries it on by the rows that it adds, and it is compared with all rows whenever the file is
opened. It finds damage; it is no signature.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = [
    "APPLICATION_ID",
    "SCHEMA",
    "VERSION",
    "WIDTH",
    "DamageError",
    "check_digest",
    "check_schema",
    "digest_carried_on",
    "digest_of",
    "insert",
    "last_id",
]


class DamageError(Exception):
    """A study file does not hold what was written; shown to users as a FileFormatError with its path."""


APPLICATION_ID = 0x43555253  # "CURS", in the header of the file
VERSION = 6  # of the tables
WIDTH = 2**31  # places of a row in the number of a cell; also the longest side of a matrix

SCHEMA = (
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY CHECK (id = 1), created INTEGER NOT NULL, digest INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE changes (
        id INTEGER PRIMARY KEY, changed_at INTEGER NOT NULL, changed_by TEXT NOT NULL,
        n INTEGER NOT NULL CHECK (n > 0), m INTEGER NOT NULL CHECK (m > 0), settings TEXT NOT NULL
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


# -- the digest --------------------------------------------------------------------------------------------------------

BY_ROW = ("changes", "lines", "tells", "promises", "rounds")  # tables that only grow, and have few rows
GROWING = (*BY_ROW, "lists", "records")
MASK = 2**62 - 1
PRIME = 2**40 - 87  # sums of eight million numbers below it are exact in SQL

TEXTS = "SELECT id, note, measured_at FROM records WHERE id > ? AND (note IS NOT NULL OR measured_at IS NOT NULL)"
VALUES = "SELECT ifnull(value, 9e999) FROM records WHERE id > ? ORDER BY id"
PLACES = (
    f"SELECT count(*), sum((cell % {PRIME} + 7919 * ifnull(list, -1) + 104729 * tell + 15485863 * asked "
    f"+ 32452843 * ifnull(corrects, -1) + 49979687 * side + 86028121 * id) % {PRIME}) FROM records WHERE id > ?"
)
ASKED = f"SELECT sum((cell % {PRIME} + 7919 * role + 104729 * list + 15485863 * place) % {PRIME}) FROM asked"
FORBIDDEN = f"SELECT sum((position % {PRIME} + 7919 * kind + 104729 * list) % {PRIME}) FROM forbidden WHERE list > ?"
#: Table, index, what is in the index, a sum over it, and a column that it has not: so SQLite must look at the table.
INDEXES = (
    ("asked", "asked_of_list", "list > 0", f"cell % {PRIME} + 7919 * list + 104729 * state", "place"),
    ("records", "records_of_list", "list IS NOT NULL", f"cell % {PRIME} + 7919 * list + 86028121 * id", "tell"),
    ("records", "corrections", "corrects IS NOT NULL", "corrects + 86028121 * id", "tell"),
)


@contextmanager
def digest_carried_on(db: sqlite3.Connection) -> Iterator[None]:
    """Add to the digest what is written meanwhile."""
    after = {name: last_id(db, name) for name in GROWING}
    lists = _of_rows(db, "lists", 0)
    yield
    more = _of_rows_after(db, after) - lists
    db.execute("UPDATE study SET digest = (digest + ?) & ?", (more & MASK, MASK))


def check_digest(db: sqlite3.Connection) -> None:
    """An error if what is in the tables is not what was written."""
    found = db.execute("SELECT digest FROM study").fetchone()
    if found is None:
        raise DamageError("it does not say of which matrix")
    try:
        pending = db.execute("SELECT count(*) FROM asked NOT INDEXED WHERE +state + 0 * place = 0").fetchone()
        is_whole = pending == db.execute("SELECT ifnull(sum(n_pending), 0) FROM lists").fetchone()
        if not is_whole or digest_of(db) != found[0] or not all(_agrees(db, *index) for index in INDEXES):
            raise DamageError("its content is not what was written to it")
    except (TypeError, ValueError) as error:
        raise DamageError(f"its content is not what was written to it ({error})") from error


def _agrees(db: sqlite3.Connection, table: str, index: str, some: str, part: str, other: str) -> bool:
    """Whether an index has what its table has: SQLite believes it."""
    sums = f"SELECT count(*), sum(({part}) % {PRIME}) FROM {table} INDEXED BY {index} WHERE {some}"
    of_table = f"SELECT count(*), sum(({part} + 0 * {other}) % {PRIME}) FROM {table} NOT INDEXED WHERE +{some}"
    return bool(db.execute(sums).fetchone() == db.execute(of_table).fetchone())


def digest_of(db: sqlite3.Connection) -> int:
    """The digest of all that is there."""
    return _of_rows_after(db, dict.fromkeys(GROWING, 0)) & MASK


def _of_rows_after(db: sqlite3.Connection, after: dict[str, int]) -> int:
    """Of all rows after these, and of all lists: their numbers of pending cells change."""
    total = _of_rows(db, "lists", 0) + sum(_of_rows(db, name, after[name]) for name in BY_ROW)
    first = after["records"]
    total += sum(_of_one(row) for row in db.execute(TEXTS, (first,)))
    count, places = db.execute(PLACES, (first,)).fetchone()
    values = np.fromiter(itertools.chain.from_iterable(db.execute(VALUES, (first,))), np.float64, count)
    some = f" WHERE list > {after['lists']}" if after["lists"] else " NOT INDEXED"  # an index is slower for all
    asked = db.execute(ASKED + some).fetchone()[0]
    total += int(db.execute(FORBIDDEN, (after["lists"],)).fetchone()[0] or 0)
    return total + int(places or 0) + int(asked or 0) + _of_values(values, first)


def _of_rows(db: sqlite3.Connection, table: str, after: int) -> int:
    return sum(_of_one((table, *row)) for row in db.execute(f"SELECT * FROM {table} WHERE id > ?", (after,)))


def _of_one(row: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.blake2b(repr(row).encode("utf-8", "replace"), digest_size=7).digest(), "big")


def _of_values(values: FloatArray, first: int) -> int:
    """A number for values in their order: each is mixed with its place (splitmix64)."""
    places = np.arange(first + 1, first + 1 + len(values), dtype=np.uint64)
    x = values.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15) * places
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(x ^ (x >> np.uint64(31)), dtype=np.uint64))
