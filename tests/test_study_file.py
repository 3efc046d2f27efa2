"""A study file is opened only if it is one; older ones are brought up to date, damaged and crafted ones refused."""

import contextlib
import os
import random
import sqlite3

import pytest

from curplus import Study
from curplus.exceptions import CURPlusError, FileFormatError, InvalidArgumentError, StudyError
from curplus.study.connection import begin
from curplus.study.schema import APPLICATION_ID, STEPS, check_schema, run_steps, version_of
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


def change(path, *statements):
    """Change a study file behind its back."""
    db = sqlite3.connect(path)
    db.executescript(";".join(statements))
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


@pytest.mark.parametrize("version", range(1, len(STEPS)))
def test_an_older_study_opens_in_this_version(tmp_path, path, version):
    """The same rows in a file that has seen only the first steps."""
    old = tmp_path / "old.study"
    db = sqlite3.connect(old, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    begin(db, old)
    run_steps(db, STEPS[:version])
    db.execute("COMMIT")
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    db.execute("ATTACH ? AS new", (str(path),))
    for name in tables:
        db.execute(f"INSERT INTO main.{name} SELECT * FROM new.{name}")
    db.close()
    with Study.open(old) as study, Study.open(path) as new:
        assert study.records().equals(new.records())
        study.fit()
        study.certify()
        assert len(study.status().rounds) == 1
        assert version_of(study._storage._open()) == len(STEPS)


def test_a_step_of_the_future_keeps_what_is_there(path):
    """What the next version will do: one more step."""
    steps = (*STEPS, ("CREATE TABLE labels (id INTEGER PRIMARY KEY, label TEXT NOT NULL) STRICT",))
    db = sqlite3.connect(path, isolation_level=None)
    begin(db, path)
    run_steps(db, steps)
    db.execute("COMMIT")
    check_schema(db, steps)
    assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 3
    db.close()
    with pytest.raises(StudyError, match=f"version {len(steps)}, and this curplus reads up to version {len(STEPS)}"):
        Study.open(path)


CRAFTED = {
    "a foreign trigger": ["CREATE TRIGGER t AFTER INSERT ON tells BEGIN DELETE FROM names; END"],
    "a view": ["CREATE VIEW v AS SELECT * FROM records"],
    "another program": ["PRAGMA application_id = 7"],
    "no version": ["PRAGMA user_version = 0"],
    "no matrix": ["DELETE FROM study"],
    "a matrix without end": ["UPDATE study SET n = 4611686018427387904, m = 4611686018427387904"],
    "settings that are no JSON": ["UPDATE study SET settings = 'x'"],
    "settings of another kind": ["UPDATE study SET settings = '[1]'"],
    "a rank that is none": ['UPDATE study SET settings = replace(settings, \'"rank": 2\', \'"rank": "x"\')'],
    "a noise that is none": ["UPDATE study SET settings = replace(settings, '\"noise\": 0.1', '\"noise\": [1]')"],
    "costs that are none": [
        'UPDATE study SET settings = replace(settings, \'"costs": null\', \'"costs": {"row": "x"}\')'
    ],
    "names that are missing": [
        'UPDATE study SET settings = replace(settings, \'"rows": "numbers"\', \'"rows": "str"\')'
    ],
    "a cell outside": ["INSERT INTO records (tell, cell, value, asked) VALUES (1, 20, 1.0, 0)"],
    "a row outside": ["INSERT INTO lines (list, axis, position, design, reason) VALUES (1, 0, 5, 'x', 'x')"],
    "half a character": ["UPDATE tells SET source = CAST(x'ff' AS TEXT)"],
}


@pytest.mark.parametrize("statements", CRAFTED.values(), ids=CRAFTED)
def test_crafted_files_are_refused(path, statements):
    change(path, *statements)
    with pytest.raises(FileFormatError, match=r"cannot be used as a study.*Restore it from a copy"):
        use(path)


def test_moments_at_the_end_of_time_are_survived(path):
    change(path, "UPDATE tells SET told_at = 9223372036854775807", "UPDATE lists SET asked_at = -5")
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


@pytest.mark.parametrize("how", ["a byte changed", "cut off", "a page of noise"])
def test_a_damaged_file_gives_an_answer_or_a_clear_error(path, how):
    whole, chance = path.read_bytes(), random.Random(how)
    for _ in range(effort(60, 3000)):
        content = bytearray(whole)
        where = chance.randrange(len(content))
        if how == "a byte changed":
            content[where] ^= 1 << chance.randrange(8)
        elif how == "cut off":
            del content[where:]
        else:
            page = where // 4096 * 4096
            content[page : page + 4096] = chance.randbytes(4096)
        path.write_bytes(content)
        with contextlib.suppress(CURPlusError):
            use(path)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def test_an_export_is_checked_when_it_is_read(path, tmp_path):
    with Study.open(path) as study:
        study.export(tmp_path / "out")
        with pytest.raises(InvalidArgumentError, match="exists already"):
            study.export(tmp_path / "out")
    for name, old, new, message in (
        ("records.csv", "1.0", "one", "records.csv, line 2: could not convert"),
        ("records.csv", "1,1,1,", "1,9,1,", "FOREIGN KEY"),
        ("lists.csv", "id,", "number,", "it should have"),
        ("about.json", '"version": ', '"version": 9', "this curplus reads version"),
        ("about.json", "curplus", "other", "is no exported study"),
    ):
        file = tmp_path / "out" / name
        whole = file.read_text()
        assert old in whole
        file.write_text(whole.replace(old, new, 1))
        with pytest.raises(FileFormatError, match=message):
            Study.from_export(tmp_path / "out", tmp_path / "b.study")
        assert not (tmp_path / "b.study").exists()
        file.write_text(whole)
    (tmp_path / "out" / "lines.csv").unlink()
    with pytest.raises(FileFormatError, match=r"has no lines\.csv"):
        Study.from_export(tmp_path / "out", tmp_path / "b.study")
