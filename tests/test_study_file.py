"""A study file is opened only if it is one; older ones are brought up to date, damaged and crafted ones refused."""

import contextlib
import os
import random
import sqlite3
import time

import numpy as np
import pytest

import curplus
from curplus import Study
from curplus.exceptions import CURPlusError, FileFormatError, InvalidArgumentError, StudyError
from curplus.study.schema import VERSION, WIDTH, digest_of
from tests.conftest import effort

pd = pytest.importorskip("pandas")

TABLE = pd.DataFrame({"row": [0, 1, 2], "column": [1, 1, 0], "value": [1.0, 2.0, float("nan")]})


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.study"
    with Study.create(path, rows=5, columns=4, noise=0.1, rank=2, budget=10) as study:
        study.ask(3)
        study.tell(TABLE)
    return path


def change(path, *statements, with_digest=False):
    """Change a study file behind its back, and perhaps its digest too, as somebody with bad intentions would."""
    db = sqlite3.connect(path)
    db.executescript(";".join(statements))
    if with_digest:
        db.execute("UPDATE study SET digest = ?", (digest_of(db),))
        db.commit()
    db.close()


def use(path):
    """Do everything that reads."""
    with Study.open(path) as study:
        study.observation(), study.status(), study.records(), study.worklists(), study.worklist(1)
        study.tell(pd.DataFrame({"row": [4], "column": [3], "value": [1.0]}))
        return study.status()


def test_a_study_opens_with_what_it_was_created_with(path):
    with Study.open(path) as study:
        assert (study.settings.shape, study.settings.noise, study.settings.rank, study.settings.budget) == (
            (5, 4),
            0.1,
            2,
            10,
        )
    assert use(path).n_values == 3


def test_no_file_is_ever_replaced(path):
    content = path.read_bytes()
    with pytest.raises(InvalidArgumentError, match="exists already"):
        Study.create(path, rows=2, columns=2)
    with pytest.raises(InvalidArgumentError, match="there is no folder"):
        Study.create(path.parent / "x" / "y", rows=2, columns=2)
    (path.parent / "b.study-wal").write_bytes(b"x")
    with pytest.raises(InvalidArgumentError, match="left over from another study"):
        Study.create(path.parent / "b.study", rows=2, columns=2)
    assert path.read_bytes() == content
    assert not list(path.parent.glob("*.part"))


def test_the_file_promises_what_the_documentation_says(path):
    with Study.open(path) as study:
        db = study._storage._open()
        found = {
            name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


@pytest.mark.parametrize("change_of", ["UPDATE records SET value = 2", "DELETE FROM records"])
def test_records_cannot_be_changed_or_removed(path, change_of):
    with pytest.raises(sqlite3.IntegrityError, match="records are never"):
        change(path, change_of)


@pytest.mark.parametrize(
    ("version", "what_to_do"), [(1, "Export it with the curplus that wrote it"), (99, "at least as new as the one")]
)
def test_a_study_of_another_version_is_refused_with_what_to_do(path, version, what_to_do):
    change(path, f"PRAGMA user_version = {version}")
    with pytest.raises(StudyError, match=f"version {version}, and this curplus reads version {VERSION}.*{what_to_do}"):
        Study.open(path)


CRAFTED = {
    "a foreign trigger": ["CREATE TRIGGER t AFTER INSERT ON tells BEGIN DELETE FROM lists; END"],
    "a view": ["CREATE VIEW v AS SELECT * FROM records"],
    "another program": ["PRAGMA application_id = 7"],
    "no version": ["PRAGMA user_version = 0"],
    "no matrix": ["DELETE FROM study"],
    "no settings": ["DELETE FROM changes"],
    "a matrix without end": ["UPDATE changes SET n = 4611686018427387904, m = 4611686018427387904"],
    "settings that are no JSON": ["UPDATE changes SET settings = 'x'"],
    "settings of another kind": ["UPDATE changes SET settings = '[1]'"],
    "settings that are a number": ["UPDATE changes SET settings = '1.5'"],
    "settings that are too many": ["UPDATE changes SET settings = replace(settings, '{', '{\"more\": 1, ')"],
    "a rank that is none": ['UPDATE changes SET settings = replace(settings, \'"rank": 2\', \'"rank": "x"\')'],
    "a noise that is none": ["UPDATE changes SET settings = replace(settings, '\"noise\": 0.1', '\"noise\": [1]')"],
    "costs that are none": [
        'UPDATE changes SET settings = replace(settings, \'"costs": null\', \'"costs": {"row": "x"}\')'
    ],
    "names that are missing": [
        'UPDATE changes SET settings = replace(settings, \'{"names": null\', \'{"names": ["a"]\')'
    ],
    "a row outside that is retired": [
        "UPDATE changes SET settings = replace(settings, '\"retired\": []', '\"retired\": [99]')"
    ],
    "a cell outside": [f"INSERT INTO records (tell, cell, value, side, asked) VALUES (1, {5 * WIDTH}, 1.0, 0, 0)"],
    "a column outside": ["INSERT INTO records (tell, cell, value, side, asked) VALUES (1, 4, 1.0, 0, 0)"],
    "a row outside": ["INSERT INTO lines (list, axis, position, design, reason) VALUES (1, 0, 5, 'x', 'x')"],
    "half a character": ["UPDATE tells SET source = CAST(x'ff' AS TEXT)"],
}


@pytest.mark.parametrize("with_digest", [False, True])
@pytest.mark.parametrize("statements", CRAFTED.values(), ids=CRAFTED)
def test_crafted_files_are_refused(path, statements, with_digest):
    with contextlib.suppress(sqlite3.OperationalError):  # half a character has no digest
        change(path, *statements, with_digest=with_digest)
    with pytest.raises(FileFormatError, match=r"cannot be used as a study.*Restore it from a copy"):
        use(path)


CHANGED = {
    "a value": "INSERT INTO records (tell, cell, value, side, asked) VALUES (1, 1, 1.0, 0, 0)",
    "a row of a list": "INSERT INTO lines (list, axis, position, design, reason) VALUES (1, 0, 1, 'x', 'x')",
    "what a cell is for": "UPDATE asked SET role = 0",
    "what is pending": "UPDATE asked SET state = 2",
    "the order of a list": "UPDATE asked SET place = 7 - place",
    "what was forbidden": "INSERT INTO forbidden VALUES (1, 0, 0)",
    "a promise": "INSERT INTO promises VALUES (NULL, 1, 1)",
    "a price": "UPDATE lists SET price = 0.5",
    "what was spent": "UPDATE tells SET spent = 0",
    "the noise": "UPDATE changes SET settings = replace(settings, '0.1', '0.2')",
    "a name": 'UPDATE changes SET settings = replace(settings, \'{"names": null\', \'{"names": ["a"]\')',
    "an error": "INSERT INTO rounds VALUES (NULL, 1, 1, 1, 1, 1, 1, 1, 1, 'x')",
}


@pytest.mark.parametrize("statement", CHANGED.values(), ids=CHANGED)
def test_whatever_is_changed_behind_its_back_is_noticed(path, statement):
    change(path, statement)
    with pytest.raises(FileFormatError, match="its content is not what was written to it"):
        Study.open(path)


def test_an_index_that_does_not_have_what_its_table_has_is_noticed(path):
    with Study.open(path) as study:
        study.cancel(1)
    hide = "DELETE FROM sqlite_master WHERE name = 'asked_of_list'"
    with contextlib.closing(sqlite3.connect(path)) as db:
        (entry,) = db.execute("SELECT * FROM sqlite_master WHERE name = 'asked_of_list'").fetchall()
    some = "WHERE (cell, list) = (SELECT min(cell), list FROM asked)"
    restore = f"INSERT INTO sqlite_master VALUES {entry!r}"
    for statements in (
        [f"UPDATE asked SET state = state + 1 {some}"],
        ["PRAGMA writable_schema = ON", hide],
        [f"UPDATE asked SET state = state - 1 {some}"],  # the index keeps the other state
        ["PRAGMA writable_schema = ON", restore],
    ):
        change(path, *statements)
    with pytest.raises(FileFormatError, match="its content is not what was written to it"):
        Study.open(path)


def test_moments_at_the_end_of_time_are_survived(path):
    change(path, "UPDATE tells SET told_at = 9223372036854775800", "UPDATE lists SET asked_at = -5", with_digest=True)
    assert use(path).n_values == 3


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 5000, b"SQLite format 3\0" + bytes(5000)])
def test_what_is_no_study_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"is not a study|cannot be used as a study"):
        Study.open(tmp_path / "x")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InvalidArgumentError, match="not a regular file"):
            Study.open(path)
    with pytest.raises(InvalidArgumentError, match="there is no study at"):
        Study.open(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def what_is_read(path):
    """All that is read of a study, and what a list and a table make of it."""
    with Study.open(path) as study:
        seen = study.observation()
        found = [study.status(), study.settings, study.records().to_csv(), study.worklists().to_csv()]
        found += [study.worklist(1).cells.to_csv(), seen.i.tolist(), seen.values.tolist()]
    use(path)
    with Study.open(path) as study:
        return str([*found, study.status(), study.records()[["row", "column", "value"]].to_csv()])


@pytest.mark.parametrize("how", ["a few bytes changed", "cut off", "a page of noise"])
def test_a_damaged_file_gives_the_same_values_or_a_clear_error(tmp_path, how):
    path = tmp_path / "a.study"
    with Study.create(path, rows=[str(k) for k in range(30)], columns=20, budget=300) as study:
        study.tell(study.ask(0.2).cells.assign(value=range(120), note="x").head(100))
        study.certify()
        study.rename_row("3", "x")
    whole, chance = path.read_bytes(), random.Random(how)
    expected, times_read = what_is_read(path), 0
    for _ in range(effort(60, 1000)):
        content = bytearray(whole)
        where = chance.randrange(len(content))
        if how == "a few bytes changed":
            for k in range(where, min(where + chance.randint(1, 20), len(content))):
                content[k] = chance.randrange(256)
        elif how == "cut off":
            del content[where:]
        else:
            page = where // 4096 * 4096
            content[page : page + 4096] = chance.randbytes(4096)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(content)
        with contextlib.suppress(CURPlusError):
            assert what_is_read(path) == expected
            times_read += 1
    assert times_read or how != "a few bytes changed"  # all pages are in use


def test_a_million_values_are_checked_in_a_moment(tmp_path):
    """Half a second of computing on the machine where this was settled; here it is told from one that is far slower."""
    path, n = tmp_path / "a.study", effort(100_000, 1_000_000)
    with Study.create(path, rows=n // 100, columns=200) as study:
        cells = study.ask(n, whole=False).cells
        study.tell(cells.assign(value=np.arange(n) / 7))
    began = time.process_time()
    Study.open(path).close()
    assert time.process_time() - began < 3e-6 * n


def test_load_says_how_a_study_is_opened(path):
    with pytest.raises(FileFormatError, match=r"a\.study is a study, .*Study\.open"):
        curplus.load(path)
