"""What the tests of studies do in processes of their own: python tests/study_workers.py NAME PATH NUMBER.

Each function prints "ok" at its end; an assertion that fails ends the process with a traceback. Processes are forked
here, from one without threads, so that hundreds of them start in a second.
"""

import os
import random
import resource
import select
import signal
import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import curplus
from curplus import Study
from curplus.exceptions import DiskFullError, InvalidArgumentError, StudyError
from curplus.study.schema import insert

N_ROWS, N_COLUMNS = 300, 200


def value_of(cell):
    return 1.0 + cell / 1e6


def table(k, size=7, **more):
    """The k-th table: cells that no other table has."""
    cells = np.arange(k * size, (k + 1) * size)
    return pd.DataFrame({"row": cells // N_COLUMNS, "column": cells % N_COLUMNS, "value": value_of(cells), **more})


def make_asked(path):
    """A study whose first list has every cell."""
    with Study.create(path, rows=N_ROWS, columns=N_COLUMNS) as study:
        assert len(study.ask(N_ROWS * N_COLUMNS)) == N_ROWS * N_COLUMNS


def forked(work):
    """A process that does ``work(write)``; its number, and the end of a pipe that has what it wrote."""
    reading, writing = os.pipe()
    if process := os.fork():
        os.close(writing)
        return process, reading
    try:
        os.close(reading)
        work(lambda text: os.write(writing, text))
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def kill_after(process, reading, seconds):
    """Wait for the first sign of life, kill the process a little later, and return all that it wrote."""
    select.select([reading], [], [], 30)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with os.fdopen(reading, "rb") as stream:
        return stream.read()


def check_whole(path):
    """The file is whole, and no reading is there twice; the cells that are there, in order."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Study.open(path) as study:
        records = study.records()
        cells = (records["row"] * N_COLUMNS + records["column"]).to_numpy()
        assert len(np.unique(cells)) == len(cells)
        assert np.array_equal(records["value"].dropna(), value_of(cells[records["value"].notna()]))
        status = study.status()
        assert status.n_values + status.n_failed == len(cells)
        return cells.tolist()


def kill_tell(path, n_kills):
    """Kill somebody who tells table after table. What was acknowledged is there; the last table is told again."""
    make_asked(path)
    acknowledged = 0

    def work(write):
        study = Study.open(path)
        for k in range(acknowledged, N_ROWS * N_COLUMNS // 7):
            study.tell(table(k, list=1))
            write(b".")

    for _ in range(n_kills):
        acknowledged += len(kill_after(*forked(work), random.uniform(0, 0.03)))
        cells = check_whole(path)
        assert len(cells) % 7 == 0
        assert len(cells) // 7 in (acknowledged, acknowledged + 1)
        assert cells == list(range(len(cells)))
    with Study.open(path) as study:
        study.tell(table(acknowledged, list=1))  # it may have been kept: then it is recognised
        study.tell(table(acknowledged + 1, list=1))
    assert check_whole(path) == list(range(7 * (acknowledged + 2)))


def kill_writers(path, n_kills):
    """Eight people tell at once, and are killed one after the other: what was acknowledged is there, and once."""
    make_asked(path)
    size = N_ROWS * N_COLUMNS // 7 // 8
    done = [0] * 8

    def work_of(number):
        def work(write):
            study = Study.open(path)
            for k in range(done[number], size):
                study.tell(table(number * size + k, list=1))  # the first one may be there already
                write(b".")

        return work

    writers = [forked(work_of(number)) for number in range(8)]
    for kill in range(n_kills):
        number = kill % 8
        done[number] += len(kill_after(*writers[number], random.uniform(0, 0.05)))
        writers[number] = forked(work_of(number))
    for number, writer in enumerate(writers):
        done[number] += len(kill_after(*writer, 0))
    cells = set(check_whole(path))
    for number, count in enumerate(done):
        first = 7 * number * size
        assert cells >= set(range(first, first + 7 * count))
    with Study.open(path) as study:
        assert study.status().n_pending == N_ROWS * N_COLUMNS - len(cells)
        assert study.status().spent == len(cells)


def kill_run(path, n_kills):
    """Kill a run, and start it again, until it is done: every cell is measured, none is kept twice."""
    Study.create(path, rows=N_ROWS, columns=N_COLUMNS, rank=1).close()
    before, budget = set(), min(250 * n_kills, 20_000)

    def measure(row, column):
        time.sleep(0.001)
        return None if (row + column) % 50 == 0 else value_of(row * N_COLUMNS + column)

    def work(write):
        study = Study.open(path)
        write(b".")
        study.run(measure, budget=budget, n_rounds=2)
        write(b"done")

    for _ in range(n_kills):
        done = kill_after(*forked(work), random.uniform(0, 0.2)).endswith(b"done")
        cells = set(check_whole(path))
        assert before <= cells
        before = cells
        if done:
            break
    process, _ = forked(work)
    assert os.waitpid(process, 0)[1] == 0
    assert len(check_whole(path)) == budget
    with Study.open(path) as study:
        assert study.status().n_pending == 0


def many_tells(path, n_tells):
    """32 processes tell at the same moment, while somebody reads: nothing is lost, nobody is turned away."""
    Study.create(path, rows=N_ROWS, columns=N_COLUMNS).close()
    ready, start = os.pipe()

    def work_of(number):
        def work(write):
            os.close(start)
            study = Study.open(path)
            os.read(ready, 1)  # all start when the other end is closed
            for k in range(n_tells):
                study.tell(table(number * n_tells + k, size=1))
            write(b"done")

        return work

    def poll(write):
        os.close(start)
        study, last = Study.open(path), 0
        while last < 32 * n_tells:
            status = study.status()
            assert status.n_values >= last
            last = status.n_values
            time.sleep(0.1)

    workers = [forked(work_of(number)) for number in range(32)] + [forked(poll)]
    time.sleep(0.2)
    os.close(start)
    assert all(os.waitpid(process, 0)[1] == 0 for process, _ in workers)
    assert sorted(check_whole(path)) == list(range(32 * n_tells))


def many_asks(path, n_asks):
    """Eight processes ask at the same moment: no cell is on two lists."""
    Study.create(path, rows=N_ROWS, columns=N_COLUMNS).close()

    def work(write):
        study = Study.open(path)
        for _ in range(n_asks):
            study.ask(1000 / n_asks)

    workers = [forked(work) for _ in range(8)]
    assert all(os.waitpid(process, 0)[1] == 0 for process, _ in workers)
    with Study.open(path) as study:
        lists = [study.worklist(number).cells for number in study.worklists()["id"]]
        assert len(lists) == 8 * n_asks
        assert not pd.concat(lists).duplicated().any()
        assert study.status().n_pending == sum(map(len, lists))


def asks_within_budget(path, budget):
    """32 processes ask at the same moment for more than there is: the budget is kept, and all of it is used."""
    Study.create(path, rows=N_ROWS, columns=N_COLUMNS, budget=budget).close()
    ready, start = os.pipe()

    def work(write):
        os.close(start)
        study = Study.open(path)
        os.read(ready, 1)  # all start when the other end is closed
        with suppress(InvalidArgumentError):
            study.ask(budget // 8)

    workers = [forked(work) for _ in range(32)]
    time.sleep(0.2)
    os.close(start)
    assert all(os.waitpid(process, 0)[1] == 0 for process, _ in workers)
    with Study.open(path) as study:
        status = study.status()
        assert (status.n_lists, status.n_pending, status.left) == (8, budget, 0)


def kill_writer(path, n_kills):
    """A writer that is killed in the middle of writing leaves no lock and no trace."""
    with Study.create(path, rows=N_ROWS, columns=N_COLUMNS) as study:
        study.tell(table(0))

    def work(write):
        storage = Study.open(path)._storage
        with storage._write() as (db, now):
            insert(db, "tells", [(None, now, "x", "x", 0, "", 1, 0, 0, 1.0)])
            write(b".")
            time.sleep(60)

    for k in range(n_kills):
        kill_after(*forked(work), 0)
        began = time.monotonic()
        with Study.open(path) as study:
            study.tell(table(k + 1))
        assert time.monotonic() - began < 20
    assert check_whole(path) == list(range(7 * (n_kills + 1)))


def full_disk(path, _):
    """No file may grow any more: a clear error, and what was there is there."""
    with Study.create(path, rows=N_ROWS, columns=N_COLUMNS) as study:
        study.tell(table(0))

    def work(write):
        study = Study.open(path)
        limit = max(Path(path).stat().st_size, 65536) + 20_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            study.tell(table(1, size=20_000))
        except DiskFullError as error:
            write(str(error).encode())
        for write_anything in (
            study.export,
            curplus.Observation(shape=(9, 9), rows=np.ones((9, 9)), row_index=range(9)).save,
        ):
            limit = 50  # bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            with pytest.raises(DiskFullError, match="there is no room"):
                write_anything(Path(path).with_name("other"))
            assert not list(Path(path).parent.glob("*other*"))

    process, reading = forked(work)
    assert os.waitpid(process, 0)[1] == 0
    message = os.read(reading, 10_000).decode()
    assert "the disk is full or failed" in message, message
    assert "Nothing was written" in message
    assert check_whole(path) == list(range(7))
    with Study.open(path) as study:
        study.tell(table(1))
    assert check_whole(path) == list(range(14))


def read_only(path, _):
    """Somebody who may only read can read; a clear error meets those who write."""
    with Study.create(path, rows=N_ROWS, columns=N_COLUMNS) as study:
        study.tell(table(0))
    Path(path).chmod(0o444)
    Path(path).parent.chmod(0o555)

    def work(write):
        if os.getuid() == 0:
            os.setuid(65534)
        study = Study.open(path)
        assert study.status().n_values == 7
        assert study.observation().n_entries == 7
        try:
            study.tell(table(1))
        except StudyError as error:
            write(str(error).encode())

    process, reading = forked(work)
    ended = os.waitpid(process, 0)[1]
    Path(path).parent.chmod(0o755)
    Path(path).chmod(0o644)
    assert ended == 0
    message = os.read(reading, 10_000).decode()
    assert "is read-only" in message, message
    assert check_whole(path) == list(range(7))


def reader_of_others(path, n_values):
    """Somebody who may only read sees all that the owner writes, or a clear refusal: nothing old, nothing in part."""
    with Study.create(path, rows=1001, columns=400) as study:
        study.tell(table(0, n_values))
    Path(path).chmod(0o644)

    def work(write):
        os.setuid(65534)
        study = Study.open(path)
        for _ in range(2):
            counts = [study.status().n_values, len(study.records()), study.observation().n_entries]
            write(f"{counts}\n".encode())
            told = Path(path).with_name("told")
            while not told.exists():
                time.sleep(0.01)

    process, reading = forked(work)
    assert os.read(reading, 1000).decode() == f"{[n_values] * 3}\n"
    with Study.open(path) as study:
        study.tell(pd.DataFrame({"row": 1000, "column": range(350), "value": 1.0}))
    Path(path).with_name("told").touch()
    assert os.waitpid(process, 0)[1] == 0
    assert os.read(reading, 1000).decode() == f"{[n_values + 350] * 3}\n"


if __name__ == "__main__":
    name, path, number = sys.argv[1:]
    random.seed(name)
    globals()[name](path, int(number))
    print("ok")
