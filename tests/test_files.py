"""Saved files: they come back as they were, or not at all, and an old one outlives a crash."""

import errno
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import curplus
from curplus import _files
from curplus._files import read_file, write_file
from curplus.exceptions import CURPlusError, DiskFullError, FileFormatError, InvalidArgumentError


def make_observation():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5))
    source = curplus.as_source(matrix, row_names=list("abcdef"), column_names=range(5))
    return curplus.observe(source, n_columns=3, n_rows=3, n_entries=9, rng=0)


def make_factorization():
    return curplus.cur_plus(make_observation(), rank=2)


MAKERS = {"observation": make_observation, "factorization": make_factorization}
KINDS = {name: type(make()) for name, make in MAKERS.items()}


def to_bytes(saved, folder):
    path = folder / "saved.npz"
    saved.save(path)
    return path.read_bytes()


@pytest.fixture(params=MAKERS, scope="module")
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def saved(kind):
    return MAKERS[kind]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("storage")


@pytest.fixture(scope="module")
def whole(saved, folder):
    """The bytes of a whole file."""
    return to_bytes(saved, folder)


@pytest.fixture(scope="module")
def members(whole):
    """What is in it: arrays by name, the header among them."""
    with np.load(io.BytesIO(whole), allow_pickle=False) as archive:
        return dict(archive)


def state(saved):
    """All that an observation or a factorization consists of, as bytes and numbers."""
    names = {name: getattr(saved, name) for name in ("row_names", "column_names")}
    if isinstance(saved, curplus.Observation):
        parts = {name: getattr(saved, name) for name in ("column_index", "columns", "row_index", "rows")}
        parts |= {name: getattr(saved, name) for name in ("i", "j", "values")}
        plain = (saved.shape, saved.design)
    else:
        sides = (("left", saved.left), ("right", saved.right))
        parts = {f"{side} {name}": part for side, basis in sides for name, part in basis._asdict().items()}
        parts["Z"] = saved.core.Z
        plain = tuple(repr(value) for value in saved.core[1:])
    arrays = {name: part for name, part in (parts | names).items() if part is not None}
    return plain, {name: (part.dtype.str, part.shape, part.tobytes()) for name, part in arrays.items()}


def write(folder, content):
    path = folder / "changed.npz"
    path.write_bytes(content)
    return path


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def header(**fields):
    return np.asarray(json.dumps(fields))


# Whole files


def test_what_was_saved_comes_back_bit_for_bit(saved, kind, tmp_path):
    path = tmp_path / "saved"  # the name is kept as it is: no suffix is added
    saved.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["saved"]
    for name in (path, str(path)):
        back = curplus.load(name)
        assert type(back) is KINDS[kind]
        assert state(back) == state(saved)


def test_an_answer_without_sample_or_names_comes_back(tmp_path):
    answer = make_factorization()
    bare = curplus.Factorization(
        curplus.factorization.Basis(answer.left.vectors), answer.core, curplus.factorization.Basis(answer.right.vectors)
    )
    bare.save(tmp_path / "bare.npz")
    back = curplus.load(tmp_path / "bare.npz")
    assert state(back) == state(bare)
    assert back.left.sample is back.left.coefficients is back.left.sample_index is back.row_names is None


def test_what_is_unknown_or_infinite_in_the_diagnostics_comes_back(tmp_path):
    answer = make_factorization()
    core = answer.core._replace(residual_norm=np.nan, condition=np.inf, rank=None, notes=("first", "zweitens: ü"))
    curplus.Factorization(answer.left, core, answer.right).save(tmp_path / "answer.npz")
    back = curplus.load(tmp_path / "answer.npz").core
    assert np.isnan(back.residual_norm)
    assert back.condition == np.inf
    assert back.rank is None
    assert back.notes == ("first", "zweitens: ü")


def test_saving_twice_gives_the_newer(tmp_path):
    path = tmp_path / "saved.npz"
    make_observation().save(path)
    make_factorization().save(path)
    assert isinstance(curplus.load(path), curplus.Factorization)
    assert list(tmp_path.iterdir()) == [path]


def test_a_saved_file_holds_no_pickle(members):
    for name, array in members.items():
        assert array.dtype.kind in "iufU", name


def test_a_missing_file_is_a_missing_file(tmp_path, kind):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        curplus.load(tmp_path / "nowhere.npz")


def test_a_missing_folder_is_a_missing_folder(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        saved.save(tmp_path / "nowhere" / "saved.npz")


def test_a_file_is_opened_once(kind, saved, tmp_path, monkeypatch):
    path = tmp_path / "saved.npz"
    saved.save(path)
    opened, really_open = [], Path.open
    monkeypatch.setattr(Path, "open", lambda path, *args: opened.append(path) or really_open(path, *args))
    curplus.load(path)
    assert opened == [path]
    opened.clear()


def test_python_objects_are_not_saved(tmp_path):
    with pytest.raises(InvalidArgumentError, match="names holds Python objects, which cannot be saved without pickle"):
        write_file(tmp_path / "saved.npz", "observation", {"names": np.array([Trap()], dtype=object)}, {})
    assert not list(tmp_path.iterdir())


def test_a_header_that_could_not_be_read_back_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LONGEST_HEADER", 1000)
    write_file(tmp_path / "saved.npz", "observation", {}, {"notes": "x" * 900})
    assert read_file(tmp_path / "saved.npz") == ("observation", {}, {"notes": "x" * 900})
    with pytest.raises(InvalidArgumentError, match=r"takes 10\d\d characters, and a file has room for 1000"):
        write_file(tmp_path / "saved.npz", "observation", {}, {"notes": "x" * 1000})


# Damaged, truncated and foreign files

DAMAGED = r"cannot be read as a saved curplus result: it is damaged, truncated or was not written by curplus"


def loads_equal_or_is_refused(path, saved):
    """The only two things that may happen to a damaged file. Returns whether it was loaded."""
    try:
        back = curplus.load(path)
    except FileFormatError:
        return False
    assert state(back) == state(saved)
    return True


def in_the_directory(size):
    """Positions in a file of ``size`` bytes, half of them in its last part, where the names of the members stand."""
    return st.one_of(st.integers(0, size - 1), st.integers(size * 3 // 4, size - 1))


@given(st.data())
def test_flipped_bits_never_go_unnoticed(whole, saved, folder, data):
    content = bytearray(whole)
    flips = st.tuples(in_the_directory(len(whole)), st.integers(1, 255))
    for position, mask in data.draw(st.lists(flips, min_size=1, max_size=3)):
        content[position] ^= mask
    loads_equal_or_is_refused(write(folder, bytes(content)), saved)


@given(st.data())
def test_overwritten_stretches_never_go_unnoticed(whole, saved, folder, data):
    start = data.draw(in_the_directory(len(whole)))
    content = bytearray(whole)
    stretch = data.draw(st.binary(min_size=1, max_size=64))[: len(whole) - start]
    content[start : start + len(stretch)] = stretch
    loads_equal_or_is_refused(write(folder, bytes(content)), saved)


@pytest.mark.parametrize("field", [30, 32], ids=["extra field", "comment"])
def test_a_directory_that_swallows_its_members_does_not_go_unnoticed(whole, saved, folder, field):
    """A member's directory record says how long its comment is: one wrong bit there hides all the members after it."""
    start = whole.find(b"PK\x01\x02")
    while start >= 0:
        content = bytearray(whole)
        content[start + field + 1] = 0x7F
        loads_equal_or_is_refused(write(folder, bytes(content)), saved)
        start = whole.find(b"PK\x01\x02", start + 1)


def test_a_truncated_file_is_refused_at_any_length(whole, saved, folder):
    lengths = np.unique(np.linspace(0, len(whole) - 1, 100).astype(int))
    loaded = [loads_equal_or_is_refused(write(folder, whole[:length]), saved) for length in lengths]
    assert not any(loaded)


@given(st.binary(max_size=200))
@example(b"")
@example(b"PK\x03\x04")
@example(b"PK\x05\x06" + bytes(18))
@example(b"\x93NUMPY\x01\x00")
@example(b"not a result\n")
def test_bytes_from_elsewhere_are_refused(folder, content):
    path = write(folder, content)
    with pytest.raises(FileFormatError, match=f"{DAMAGED}|is a study"):  # by its first bytes
        curplus.load(path)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def plain_zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("curplus.npy", "not an array")
    return stream.getvalue()


class Trap:
    """Unpickling it would leave a mark."""

    def __reduce__(self):
        return (os.mkdir, ("unpickled",))


FOREIGN = {
    "npz of somebody else": lambda: npz(X=np.eye(3)),
    "npy": lambda: npy(np.eye(3)),
    "text": lambda: b"1.0, 2.0\n3.0, 4.0\n",
    "zip": plain_zip,
    "pickle": lambda: pickle.dumps(Trap()),
    "npz with a pickle": lambda: npz(curplus=np.array([Trap()], dtype=object)),
    "header that is no JSON": lambda: npz(curplus=np.asarray("version 1")),
    "header that is a list": lambda: npz(curplus=np.asarray("[1, 2]")),
    "header that is a number": lambda: npz(curplus=np.asarray(1.0)),
    "header of several strings": lambda: npz(curplus=np.asarray(["{}", "{}"])),
    "header without a version": lambda: npz(curplus=header(kind="observation", fields={})),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, make())
    with pytest.raises(FileFormatError, match=DAMAGED) as caught:
        curplus.load(path)
    assert str(path) in str(caught.value)
    assert "Restore it from a copy or compute it again." in str(caught.value)
    assert isinstance(caught.value, CURPlusError)
    assert caught.value.__cause__ is not None
    assert not (tmp_path / "unpickled").exists()


def test_a_part_that_is_missing_is_noticed(members, folder):
    """Even one that need not be there: an observation that had names must not come back without them."""
    for name in members:
        path = write(folder, npz(**{key: array for key, array in members.items() if key != name}))
        with pytest.raises(FileFormatError):
            curplus.load(path)


def test_a_part_that_does_not_belong_is_noticed(members, folder):
    with pytest.raises(FileFormatError):
        curplus.load(write(folder, npz(**members, stowaway=np.eye(3))))


def test_a_part_of_the_wrong_size_is_noticed(members, folder):
    for name in (name for name in members.keys() - {"curplus", "row_names", "column_names"} if members[name].size):
        path = write(folder, npz(**members | {name: members[name][1:]}))
        with pytest.raises(FileFormatError):
            curplus.load(path)


@pytest.mark.parametrize("fields", [{}, [], None, {"shape": [6]}, {"core": {}}, {"core": None}])
def test_a_header_that_lacks_something_is_noticed(kind, members, folder, fields):
    path = write(folder, npz(**members | {"curplus": header(version=1, kind=kind, fields=fields)}))
    with pytest.raises(FileFormatError):
        curplus.load(path)


@pytest.mark.parametrize("incomplete", [{"kind": "observation"}, {"fields": {}}, {}])
def test_a_header_that_is_incomplete_is_damage_and_not_another_version(folder, incomplete):
    with pytest.raises(FileFormatError, match="damaged"):
        curplus.load(write(folder, npz(curplus=header(version=1, **incomplete))))


def test_a_file_of_a_newer_version_says_what_to_install(kind, members, folder):
    stated = json.loads(str(members["curplus"]))
    path = write(folder, npz(**members | {"curplus": header(**stated | {"version": 999})}))
    message = r"has format version 999, and this curplus reads version 1\. Install a curplus that is at least"
    with pytest.raises(FileFormatError, match=message):
        curplus.load(path)


def test_an_unknown_kind_is_named(members, folder):
    stated = json.loads(str(members["curplus"]))
    path = write(folder, npz(**members | {"curplus": header(**stated | {"kind": "sculpture"})}))
    with pytest.raises(FileFormatError, match="holds a 'sculpture', which this version of curplus cannot read"):
        curplus.load(path)


# Files that somebody made up


def described(**arrays):
    """A header with an inventory of the given arrays."""
    inventory = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    return header(version=1, kind="observation", fields={}, arrays=inventory)


def zipped(*members):
    """An archive of members given by name, content and, if it is to be compressed, the way to do that."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name
        for member in members:
            archive.writestr(*member)
    return stream.getvalue()


def compressed():
    x = np.zeros(2**23)
    return zipped(("curplus.npy", npy(described(x=x))), ("x.npy", npy(x), zipfile.ZIP_DEFLATED))


def compressed_header():
    return zipped(("curplus.npy", npy(np.asarray(" " * 2**20)), zipfile.ZIP_DEFLATED))


def long_header():
    return zipped(("curplus.npy", npy(np.asarray("{}".ljust(2**20 + 1)))))


def array_larger_than_its_part():
    x = np.zeros(2**23)
    return zipped(("curplus.npy", npy(described(x=x))), ("x.npy", npy(x)[:200]))


def header_larger_than_its_part():
    return zipped(("curplus.npy", npy(np.asarray(" " * 2**20))[:200]))


def larger_than_the_inventory_says():
    return npz(curplus=described(x=np.zeros(1)), x=np.zeros(2**17))


def of_another_type_than_the_inventory_says():
    return npz(curplus=described(x=np.zeros(2)), x=np.zeros(2, dtype=np.int64))


def one_part_twice():
    x = np.zeros(3)
    return zipped(("curplus.npy", npy(described(x=x))), ("x.npy", npy(x)), ("x.npy", npy(x)))


def two_headers():
    x = np.zeros(3)
    return zipped(("curplus.npy", npy(described(x=x))), ("curplus.npy", npy(described(x=x))), ("x.npy", npy(x)))


def a_part_that_is_no_array():
    x = np.zeros(3)
    return zipped(("curplus.npy", npy(described(x=x))), ("x.npy", npy(x)), ("README", b"hello"))


def encrypted():
    content = bytearray(npz(curplus=described(x=np.zeros(3)), x=np.zeros(3)))
    for record, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rfind(record) + flags] |= 1
    return bytes(content)


def one_part_inside_another():
    """The directory lists an array that lies within the content of a larger one: both are whole, and share bytes."""
    inner = np.zeros(2**16, dtype=np.uint8)
    parcel = zipped(("x.npy", npy(inner)))
    outer = np.frombuffer(parcel, dtype=np.uint8)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("y.npy", npy(outer))
        archive.writestr("curplus.npy", npy(described(x=inner, y=outer)))
        (member,) = zipfile.ZipFile(io.BytesIO(parcel)).infolist()
        member.header_offset = stream.getvalue().find(parcel)
        archive.filelist.append(member)
    return stream.getvalue()


CRAFTED = [
    compressed,
    compressed_header,
    long_header,
    array_larger_than_its_part,
    header_larger_than_its_part,
    larger_than_the_inventory_says,
    of_another_type_than_the_inventory_says,
    one_part_twice,
    two_headers,
    a_part_that_is_no_array,
    encrypted,
    one_part_inside_another,
]


@pytest.mark.parametrize("make", CRAFTED, ids=lambda make: make.__name__)
def test_a_crafted_file_is_refused_before_it_costs_memory(make, folder):
    path = write(folder, make())
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=DAMAGED):
            read_file(path)
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


def test_the_crafted_files_are_refused_for_what_was_changed(folder):
    x = np.zeros(3)
    plain = zipped(("curplus.npy", npy(described(x=x))), ("x.npy", npy(x)))
    assert read_file(write(folder, plain)).arrays["x"].tolist() == [0, 0, 0]


# A crash in mid-save


def stop_after_half(stream, *args, **kwargs):
    stream.write(b"PK\x03\x04 half a file")
    raise OSError(errno.ENOSPC, "No space left on device")


def stop(*args, **kwargs):
    raise OSError(errno.EIO, "Input/output error")


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "what", "error"),
    [
        ("numpy.savez", stop_after_half, DiskFullError),
        ("os.fsync", stop, OSError),
        ("os.fsync", interrupt, KeyboardInterrupt),
        ("pathlib.Path.replace", stop, OSError),
    ],
    ids=["disk full", "failed write", "interrupt", "failed move"],
)
@pytest.mark.parametrize("older", [True, False], ids=["over an older file", "to a new file"])
def test_a_failed_save_leaves_the_folder_as_it_was(saved, tmp_path, monkeypatch, where, what, error, older):
    path = tmp_path / "saved.npz"
    if older:
        make_observation().save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(where, what)
        with pytest.raises(error):
            saved.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    saved.save(path)
    assert state(curplus.load(path)) == state(saved)


KILLED = """
    import os, signal, sys
    import numpy as np
    import curplus

    def die(*args, **kwargs):
        if args and hasattr(args[0], "write"):
            args[0].write(b"half a file")
            args[0].flush()
        os.kill(os.getpid(), signal.SIGKILL)

    answer = curplus.load(sys.argv[1])
    {where} = die
    answer.save(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("where", ["np.savez", "os.fsync"])
def test_a_killed_process_leaves_the_older_file_whole(tmp_path, where):
    answer = make_factorization()
    path = tmp_path / "answer.npz"
    answer.save(path)
    before = path.read_bytes()
    script = textwrap.dedent(KILLED).format(where=where)
    ended = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(list(tmp_path.iterdir())) == 2  # it did die in mid-save: the half-written file is still there
    assert path.read_bytes() == before
    answer.save(path)
    assert state(curplus.load(path)) == state(answer)
    assert list(tmp_path.iterdir()) == [path]  # this save has removed what the killed process left behind


# Files that are whole, with content that makes no sense


def spoilt(tmp_path, change):
    """A saved factorization whose arrays and fields were changed before it was written: its inventory is right."""
    make_factorization().save(tmp_path / "good.npz")
    kind, arrays, fields = read_file(tmp_path / "good.npz")
    change(arrays, fields)
    write_file(tmp_path / "bad.npz", kind, arrays, fields)
    return tmp_path / "bad.npz"


def put(name, make):
    def change(arrays, fields):
        arrays[name] = make(arrays.get(name))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("left_vectors", lambda x: np.full_like(x, np.nan)), "left_vectors .* needs finite numbers"),
        (put("Z", lambda x: x.astype(str)), "Z has shape .* needs finite numbers"),
        (put("Z", lambda x: x[:1]), "left_vectors has shape"),
        (put("Z", lambda x: x.ravel()), "not enough values to unpack"),
        (put("right_vectors", lambda x: x[:, :1]), "right_vectors has shape"),
        (put("left_coefficients", lambda x: x.T), "left_coefficients has shape"),
        (put("left_sample", lambda x: x[:2]), "left_sample has shape"),
        (put("row_names", lambda x: x[:1]), "row_names has shape"),
        (put("held_out", lambda x: np.array([-1])), "held_out.* is out of range"),
        (put("held_out", lambda x: np.array([0.5])), "held_out has dtype"),
        (lambda arrays, fields: fields.pop("core"), "core"),
        (lambda arrays, fields: fields.update(report=[["rank"]]), "missing 1 required"),
        (lambda arrays, fields: fields.update(fingerprint=["a"]), "fingerprint|missing"),
    ],
)
def test_content_that_makes_no_sense_is_refused(tmp_path, change, message):
    with pytest.raises(FileFormatError, match=message):
        curplus.load(spoilt(tmp_path, change))


@pytest.mark.parametrize(
    "record",
    [
        {"name": "Nobody", "fields": {}},
        {"name": "CURPlus", "fields": {"rank": 2, "speed": 9}},
        {"name": "Truncated", "fields": {"method": {"name": "Nobody", "fields": {}}, "rank": 1}},
        ["CURPlus"],
        7,
        "cur_plus",
    ],
)
def test_a_method_that_is_not_known_is_left_out(tmp_path, record):
    loaded = curplus.load(spoilt(tmp_path, lambda arrays, fields: fields.update(method=record)))
    assert loaded.provenance.method is None
    assert loaded.rank == 2


def test_held_out_entries_that_do_not_exist_are_refused_by_the_certificate(tmp_path):
    loaded = curplus.load(spoilt(tmp_path, put("held_out", lambda x: np.array([99]))))
    with pytest.raises(InvalidArgumentError, match="held out entry 99, but the observation has 9 entries"):
        curplus.certify(loaded, make_observation())
