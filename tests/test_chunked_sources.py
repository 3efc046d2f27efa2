"""A pass over a matrix in chunks reads each chunk that it needs once, and no other."""

import threading

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import SamplePlan
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.sources import ChunkedSource, StripedSource
from tests.strategies import plans, shapes

NONE = np.empty(0, dtype=np.int64)


class Recorder:
    """A function that returns chunks of a matrix and remembers where they lie."""

    def __init__(self, matrix):
        self.matrix, self.places = matrix, []

    def __call__(self, rows, columns):
        self.places.append((rows.start, rows.stop, columns.start, columns.stop))
        return self.matrix[rows, columns]


def numbered(shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


def mask_of(plan):
    """The positions that a plan names."""
    mask = np.zeros(plan.shape, dtype=bool)
    mask[:, plan.column_index] = True
    mask[plan.row_index] = True
    mask[plan.i, plan.j] = True
    return mask


@st.composite
def parts_of(draw, size):
    """Numbers that add up to ``size``, some of them 0."""
    cuts = sorted(draw(st.lists(st.integers(0, size), max_size=4)))
    return tuple(np.diff([0, *cuts, size]).tolist())


@st.composite
def chunkings(draw):
    """A shape, a way to cut it into chunks, and a plan."""
    n, m = shape = draw(shapes())
    regular = st.tuples(st.integers(1, n + 1), st.integers(1, m + 1))
    return shape, draw(regular | st.tuples(parts_of(n), parts_of(m))), draw(plans(shape))


def check_holds(parts, matrix, plan):
    columns, rows, values = parts
    np.testing.assert_array_equal(columns, matrix[:, plan.column_index])
    np.testing.assert_array_equal(rows, matrix[plan.row_index])
    np.testing.assert_array_equal(values, matrix[plan.i, plan.j])


@given(chunkings(), st.booleans())
def test_a_pass_reads_each_needed_chunk_once_and_no_other(chunking, kept):
    shape, chunks, plan = chunking
    record = Recorder(numbered(shape))
    source = ChunkedSource(record, shape, chunks, cache_bytes=10**6 if kept else 0)
    check_holds(source.read(plan), record.matrix, plan)
    assert len(set(record.places)) == len(record.places)
    assert record.places == sorted(record.places, key=lambda place: (place[0], place[2]))
    read, wanted = np.zeros(shape, dtype=int), mask_of(plan)
    for a, b, c, d in record.places:
        read[a:b, c:d] += 1
        assert wanted[a:b, c:d].any()
    assert read.max(initial=0) <= 1
    assert (read[wanted] == 1).all()
    assert source.bytes_read == 8 * read.sum()


@given(shapes(), st.data())
def test_stripes_are_read_once_and_bring_what_is_wanted(shape, data):
    plan, axis = data.draw(plans(shape)), data.draw(st.integers(0, 1))
    record = Recorder(numbered(shape))
    bytes_per_line = data.draw(st.sampled_from([2**14, 2**20, 2**22, 2**24]))
    source = StripedSource(
        record, shape, axis=axis, line_bytes=bytes_per_line, cache_bytes=data.draw(st.integers(0, 1))
    )
    check_holds(source.read(plan), record.matrix, plan)
    read = np.zeros(shape, dtype=int)
    for a, b, c, d in record.places:
        read[a:b, c:d] += 1
    assert read.max(initial=0) <= 1
    assert read[mask_of(plan)].all()


def test_few_lines_of_a_file_without_chunks_do_not_cost_the_others():
    record = Recorder(numbered((1000, 5)))
    source = StripedSource(record, (1000, 5), line_bytes=2**20, cache_bytes=0)
    source.rows([3, 4, 500])
    assert [(a, b) for a, b, _, _ in record.places] == [(3, 5), (500, 501)]


def test_a_second_pass_reads_nothing_that_is_kept():
    record = Recorder(numbered((20, 30)))
    source = ChunkedSource(record, (20, 30), (5, 10))
    for index in (np.arange(4), np.arange(8)):
        source.columns(index)
    source.rows([0])
    assert len(record.places) == 4 + 2  # one column of chunks, then the two others of the first row


def test_the_cache_is_bounded_and_drops_what_was_used_least_recently():
    record = Recorder(numbered((40, 10)))
    source = ChunkedSource(record, (40, 10), (10, 10), cache_bytes=2 * 800)
    for row in (0, 10, 0, 20, 0, 10):  # 20 drops 10, since 0 was used after it
        source.rows([row])
    assert [a for a, _, _, _ in record.places] == [0, 10, 20, 10]


def test_a_pass_over_more_than_the_cache_holds_uses_what_it_holds():
    record = Recorder(numbered((40, 10)))
    source = ChunkedSource(record, (40, 10), (10, 10), cache_bytes=2 * 800)
    source.columns([0])
    source.columns([1])
    assert [a for a, _, _, _ in record.places] == [0, 10, 20, 30, 0, 10]


def test_a_chunk_larger_than_the_cache_is_not_kept():
    source = ChunkedSource(Recorder(numbered((4, 4))), (4, 4), (4, 4), cache_bytes=100)
    source.rows([0])
    source.rows([0])
    assert source.bytes_read == 2 * 128


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("limits", [{"cache_bytes": 0}, {"memory_limit": 60_000}])
def test_acquire_makes_three_passes_at_most_where_chunks_are_not_kept(low_rank, limits, symmetric):
    matrix = low_rank((200, 200), 4) @ low_rank((200, 200), 4).T
    matrix = matrix + matrix.T
    totals = {"n_columns": 10, "n_rows": 10, "n_entries": 800}
    source = ChunkedSource(Recorder(matrix), (200, 200), (10, 10), **limits)
    seen = curplus.acquire(source, **totals, symmetric=symmetric, rng=0)
    assert seen.counts == (10, 10, 800)
    assert source.bytes_read <= 3 * matrix.nbytes
    assert np.count_nonzero(seen.steering) == 400
    np.testing.assert_array_equal(seen.columns, matrix[:, seen.column_index])
    np.testing.assert_array_equal(seen.rows, matrix[seen.row_index])
    np.testing.assert_array_equal(seen.values, matrix[seen.i, seen.j])


@pytest.mark.parametrize("strategy", ["uniform", "auto"])
def test_acquire_reads_each_chunk_at_most_once_when_all_fit_into_the_cache(low_rank, strategy):
    record = Recorder(low_rank((60, 50), 4))
    source = ChunkedSource(record, (60, 50), (16, 16))
    seen = curplus.acquire(source, n_columns=8, n_rows=8, n_entries=100, strategy=strategy, rng=0)
    same = curplus.acquire(record.matrix, n_columns=8, n_rows=8, n_entries=100, strategy=strategy, rng=0)
    np.testing.assert_array_equal(seen.columns, same.columns)
    np.testing.assert_array_equal(seen.values, same.values)
    assert len(set(record.places)) == len(record.places) <= 16


def test_progress_is_told_after_each_chunk():
    told = []
    source = ChunkedSource(Recorder(numbered((6, 4))), (6, 4), (2, 2), progress=lambda *count: told.append(count))
    source.rows([0])
    source.columns([0])
    assert told == [(1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]


def test_nothing_is_read_for_nothing():
    record = Recorder(numbered((6, 4)))
    columns, rows, values = ChunkedSource(record, (6, 4), (2, 2)).read(SamplePlan((6, 4), NONE, NONE, NONE, NONE))
    assert (columns.shape, rows.shape, values.shape) == ((6, 0), (0, 4), (0,))
    assert record.places == []


def test_numbers_are_kept_as_they_are_stored_and_converted_when_taken():
    source = ChunkedSource(Recorder(numbered((6, 4)).astype(np.int8)), (6, 4), (2, 2), dtype=np.int8)
    assert source.rows([0]).dtype == source.dtype == np.float64
    assert source.bytes_read == 8


def test_sparse_chunks_whose_duplicates_overflow_add_up():
    def chunk(rows, columns):
        return scipy.sparse.coo_array((np.full(3, 100, dtype=np.uint8), ([0, 0, 0], [1, 1, 1])), shape=(2, 2))

    source = ChunkedSource(chunk, (2, 2), (2, 2), dtype=np.uint8)
    np.testing.assert_array_equal(source.rows([0]), [[0, 300]])


def fails(rows, columns):
    raise OSError("the disk is gone")


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (lambda r, c: np.ma.masked_equal(np.eye(2), 0), "rows 2 to 3, columns 0 to 1 is a masked array"),
        (fails, r"rows 2 to 3, columns 0 to 1 could not be read: OSError: the disk is gone"),
        (
            lambda r, c: np.zeros((1, 2)),
            r"rows 2 to 3, columns 0 to 1 has shape \(1, 2\). It must be \(2, 2\)",
        ),
        (
            lambda r, c: np.full((2, 2), "a"),
            r"rows 2 to 3, columns 0 to 1 has dtype <U1, which is not a number",
        ),
    ],
)
def test_a_chunk_that_cannot_be_used_is_named_with_its_place(chunk, message):
    with pytest.raises(SourceError, match=message):
        ChunkedSource(chunk, (6, 4), (2, 2)).rows([2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"chunk": 3}, "chunk=3 cannot be called"),
        ({"chunks": 3}, "chunks=3 is not a pair"),
        ({"chunks": (0, 2)}, r"chunks\[0\]=0 is too small"),
        ({"chunks": (2, (2, 3))}, r"chunks\[1\] adds up to 5 and the matrix has 4"),
        ({"chunks": (2, 2.5)}, r"chunks\[1\]=2.5 is not a whole number"),
        ({"cache_bytes": -1}, "cache_bytes=-1 is too small"),
        ({"dtype": object}, "which is not numeric"),
    ],
)
def test_a_chunked_source_says_what_it_cannot_be_made_of(arguments, message):
    with pytest.raises(InvalidArgumentError, match=message):
        ChunkedSource(**{"chunk": fails, "shape": (6, 4), "chunks": (2, 2)} | arguments)


def test_positions_outside_the_matrix_are_refused():
    source = ChunkedSource(fails, (6, 4), (2, 2))
    with pytest.raises(InvalidArgumentError, match=r"row_index\[0\]=6 is out of range"):
        source.rows([6])
    with pytest.raises(InvalidArgumentError, match="i has length 1 and j has 2"):
        source.entries([0], [0, 1])


# Reading ahead, and memory


@given(chunkings())
def test_reading_ahead_changes_nothing_but_when_a_chunk_is_fetched(chunking):
    shape, chunks, plan = chunking
    record = Recorder(numbered(shape))
    done = []
    source = ChunkedSource(
        record, shape, chunks, cache_bytes=0, read_ahead=True, progress=lambda *step: done.append(step)
    )
    check_holds(source.read(plan), record.matrix, plan)
    assert len(set(record.places)) == len(record.places) == len(done)
    assert source.bytes_read == 8 * sum((b - a) * (d - c) for a, b, c, d in record.places)


def test_the_next_chunk_is_fetched_while_the_present_one_is_used():
    fetched = threading.Semaphore(0)

    def chunk(rows, columns):
        if rows.start:
            fetched.release()
        return np.zeros((10, 5))

    def progress(done, total):
        if done == 1:  # the first chunk has been used; the second is there without being asked for
            assert fetched.acquire(timeout=20)

    source = ChunkedSource(chunk, (20, 5), (10, 5), read_ahead=True, progress=progress)
    source.columns([0])


def test_at_most_two_chunks_are_fetched_before_one_is_used():
    fetched, most = [], []

    def progress(done, _):
        most.append(len(fetched) - done)

    def chunk(rows, columns):
        fetched.append(rows.start)
        return np.zeros((1, 5))

    ChunkedSource(chunk, (50, 5), (1, 5), read_ahead=True, progress=progress).columns([0])
    assert max(most) <= 1


def test_an_error_of_a_chunk_that_is_fetched_ahead_names_its_place():
    def chunk(rows, columns):
        if rows.start == 20:
            raise OSError("the disk is gone")
        return np.zeros((10, 5))

    source = ChunkedSource(chunk, (40, 5), (10, 5), read_ahead=True)
    with pytest.raises(SourceError, match="rows 20 to 29, columns 0 to 4 could not be read: OSError: the disk is gone"):
        source.columns([0])
    assert threading.active_count() == 1 or not any("curplus" in t.name for t in threading.enumerate())


@pytest.mark.parametrize(("limit", "ahead", "kept"), [(1200, False, 0), (1600, True, 0), (4000, True, 6)])
def test_memory_is_shared_between_the_result_the_chunks_and_the_cache(limit, ahead, kept):
    """Chunks of 10 x 5 numbers are 400 bytes, and a column of 100 is 800."""
    record, threads = Recorder(numbered((100, 5))), set()

    def chunk(rows, columns):
        threads.add(threading.current_thread().name)
        return record(rows, columns)

    source = ChunkedSource(chunk, (100, 5), (10, 5), memory_limit=limit, read_ahead=True)
    source.columns([0])
    assert any("read-ahead" in name for name in threads) == ahead
    record.places.clear()
    source.columns([1])
    assert len(record.places) == 10 - kept


def test_a_plan_that_does_not_fit_into_the_memory_is_refused_before_anything_is_read():
    record = Recorder(numbered((100, 5)))
    source = ChunkedSource(record, (100, 5), (10, 5), memory_limit=1000)
    with pytest.raises(InvalidArgumentError, match=r"memory_limit=1,000 bytes, but the plan asks for 800 bytes of val"):
        source.columns([0])
    assert record.places == []
    source.limit(1200)
    assert source.columns([0]).shape == (100, 1)


def test_the_memory_limit_of_a_file_is_said_when_it_is_opened(tmp_path):
    array = pytest.importorskip("zarr").create_array(tmp_path / "m.zarr", shape=(100, 5), chunks=(10, 5), dtype="f8")
    array[:] = numbered((100, 5))
    done = []
    source = curplus.open_source(tmp_path / "m.zarr", memory_limit=1600, progress=lambda *step: done.append(step))
    np.testing.assert_array_equal(source.columns([2])[:, 0], numbered((100, 5))[:, 2])
    assert done[-1] == (10, 10)
    with pytest.raises(InvalidArgumentError, match="memory_limit=1,600 bytes"):
        source.columns([0, 1, 2])
