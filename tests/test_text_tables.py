"""Text tables as people write them: what is found out, what can be said, and what is refused with its place."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, SourceError

pd = pytest.importorskip("pandas")

NAN = float("nan")


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def everything(source):
    return source.rows(np.arange(source.shape[0]))


def found(source):
    return {note.name: note.value for note in source.notes}


TABLE = "name;height [cm];weight\nann;170,5;60\nbob;180;75,25\n"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (TABLE, {"sep": ";", "decimal": ",", "index_col": 0}),
        (TABLE.replace(";", "\t"), {"sep": "\t", "decimal": ",", "index_col": 0}),
        (TABLE.replace(",", ".").replace(";", ","), {"index_col": 0}),
        (TABLE.replace(",", ".").replace(";", "|"), {"sep": "|", "index_col": 0}),
        (TABLE.replace(",", ".").replace(" [cm]", "").replace(";", "   "), {"sep": " ", "index_col": 0}),
        (TABLE.replace("name", ""), {"sep": ";", "decimal": ",", "index_col": 0}),
        (TABLE.replace("name;", ""), {"sep": ";", "decimal": ",", "index_col": 0}),
        (TABLE.replace("\n", "\r\n"), {"sep": ";", "decimal": ",", "index_col": 0}),
        ("\n\n" + TABLE, {"sep": ";", "decimal": ",", "index_col": 0}),
        (TABLE.replace("170,5", '"170,5"'), {"sep": ";", "decimal": ",", "index_col": 0}),
        ('"name";"h";"w"\n"ann";"170,5";"60"\n"bob";"180";"75,25"\n', {"sep": ";", "decimal": ",", "index_col": 0}),
        ("id,h,w\n17,170.5,60\n4,180,75.25\n", {"index_col": 0}),
        ("compound_id,h,w\n17,170.5,60\n4,180,75.25\n", {"index_col": 0}),
        ("index,h,w\n0,170.5,60\n1,180,75.25\n", {"index_col": 0}),
        ("170.5,60\n180,75.25\n", {"header": False}),
        ("170.5 60\n180 75.25\n", {"sep": " ", "header": False}),
        ("ann,170.5,60\nbob,180,75.25\n", {"header": False, "index_col": 0}),
        ("0,1\n170.5,60\n180,75.25\n", {"header": True}),
        ("country,1990,1991\nx,170.5,60\ny,180,75.25\n", {"header": True, "index_col": 0}),
        ("a,b,\n170.5,60,\n180,75.25,\n", {"": None}),
        ("a,b\n170.5,60,\n180,75.25,\n", {"": None}),
        ("a,b\n170.5 ,60\n180, 75.25\n", {}),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_table_is_read_as_it_is_written(tmp_path, text, notes, encoding):
    source = curplus.open_source(written(tmp_path / "table.csv", text, encoding))
    np.testing.assert_array_equal(everything(source), [[170.5, 60], [180, 75.25]])
    expected = notes if encoding in ("utf-8", "latin-1") else notes | {"encoding": encoding}
    assert found(source) == expected
    assert not source.gaps


def test_names_may_have_any_letter_of_any_encoding(tmp_path):
    for encoding in ("utf-8", "latin-1", "utf-16"):
        source = curplus.open_source(written(tmp_path / "t.csv", "n;größe;µg\nJosé;1;2\nZoë;3;4\n", encoding))
        assert source.column_names.tolist() == ["größe", "µg"]
        assert source.row_names.tolist() == ["José", "Zoë"]


def test_a_late_letter_that_is_not_utf8_is_read_as_latin_1(tmp_path):
    text = "n,a,b\n" + "x,1,2\n" * 30_000 + "Zoë,3,4\n"
    source = curplus.open_source(written(tmp_path / "t.csv", text, "latin-1"))
    assert source.row_names[-1] == "Zoë"
    assert found(source)["encoding"] == "latin-1"


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz", "T.CSV.GZ", "t.csv"])
def test_a_packed_table_is_unpacked(tmp_path, name):
    sep = "\t" if "tsv" in name else ","
    (tmp_path / name).write_bytes(gzip.compress(f"a{sep}b\n1{sep}2\n3{sep}4\n".encode()))
    source = curplus.open_source(tmp_path / name)
    np.testing.assert_array_equal(everything(source), [[1, 2], [3, 4]])
    assert source.notes == ()


@pytest.mark.parametrize("gap", ["", "NA", "NaN", "nan", "n/a", "null", "None", "-", "--", ".", "?", "#N/A", " "])
def test_gaps_are_nan_and_the_source_says_that_it_has_some(tmp_path, gap):
    source = curplus.open_source(written(tmp_path / "t.csv", f"n,a,b\nx,1,{gap}\ny,{gap},4.5\nz,5,6\n"))
    np.testing.assert_array_equal(everything(source), [[1, NAN], [NAN, 4.5], [5, 6]])
    assert source.gaps
    assert curplus.observe(source, n_columns=2, n_rows=2, n_entries=3, rng=0).n_gaps == 2


def test_a_row_may_have_the_name_of_a_gap(tmp_path):
    source = curplus.open_source(written(tmp_path / "t.csv", "country,a,b\nDK,1,2\nNA,3,4\n-,5,6\n"))
    assert source.row_names.tolist() == ["DK", "NA", "-"]
    assert not source.gaps


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id,a\n1,5\n1,6\n2,7\n", "a number that occurs twice names no row"),
        ("index,a\n1.5,5\n1.4,6\n2,7\n", "an index of refraction"),
        ("acid,a\n3,5\n1,6\n2,7\n", "a word that ends in id"),
        ("a,b\n3,5\n1,6\n2,7\n", "any other name"),
    ],
)
def test_a_first_column_that_does_not_name_rows_is_data(tmp_path, text, why):
    source = curplus.open_source(written(tmp_path / "t.csv", text))
    assert source.shape == (3, 2), why
    assert "index_col" not in found(source)


def test_ids_of_which_a_late_one_is_text_name_rows(tmp_path):
    text = "id,a,b\n" + "".join(f"{k},{k}.5,2\n" for k in range(500)) + "X7,1,2\n"
    source = curplus.open_source(written(tmp_path / "t.csv", text))
    assert source.shape == (501, 2)
    assert source.row_names[-1] == "X7"


def test_numbers_for_names_are_kept_as_they_are_written(tmp_path):
    source = curplus.open_source(written(tmp_path / "t.csv", ",a,a\n007,1,2\n8,3,4\n"))
    assert source.row_names.tolist() == ["007", "8"]
    assert source.column_names.tolist() == ["a", "a"]  # and two of one name


def test_true_and_false_are_numbers(tmp_path):
    source = curplus.open_source(written(tmp_path / "t.csv", "n,a,b\nx,True,2.5\ny,,4\nz,false,1\n"))
    np.testing.assert_array_equal(everything(source), [[1, 2.5], [NAN, 4], [0, 1]])


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("400,410\n1,2\n3,4\n", {"header": True}, [[1, 2], [3, 4]]),
        ("0,1\n1,2\n3,4\n", {"header": False}, [[0, 1], [1, 2], [3, 4]]),
        ("id,a\n1,2\n3,4\n", {"index_col": False}, [[1, 2], [3, 4]]),
        ("a,b,c\n1,2,9\n3,4,8\n", {"index_col": "c"}, [[1, 2], [3, 4]]),
        ("a,b,c\n9,1,2\n8,3,4\n", {"index_col": 0}, [[1, 2], [3, 4]]),
        ("a;b\n1,5;2\n3;4\n", {"sep": ";", "decimal": ","}, [[1.5, 2], [3, 4]]),
        ("a;b\n1,5;2\n3;4\n", {"decimal": ","}, [[1.5, 2], [3, 4]]),
        ("größe,b\n1,2\n3,4\n", {"encoding": "utf-8"}, [[1, 2], [3, 4]]),
    ],
)
def test_what_is_said_is_not_found_out(tmp_path, text, options, expected):
    source = curplus.open_source(written(tmp_path / "t.csv", text), **options)
    np.testing.assert_array_equal(everything(source), expected)
    assert not set(options) & set(found(source))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,2\n3,4 kg\n", {"header": False}, "'4 kg' in line 2, column 1 is not a number"),
        ("a,b\n1,2\n3,1.234,5\n", {}, "line 3 has 3 cells, and 2 are expected"),
        ("a,b,c\n1,2,3\n4,5\n", {}, "line 3 has 2 cells, and 3 are expected. If the file was cut off"),
        ("a,b\n1,2\n", {"sep": "::"}, "sep='::' is not one of ',', '\\t', ';', '|', ' '"),
        ("a,b\n1,2\n", {"index_col": "c"}, "index_col='c' is no column of it. Its columns are a, b"),
        ("a,b\n1,2\n", {"index_col": 2}, "index_col=2 is no column of it"),
        ("a,b\n1,2\n", {"encoding": "klingon"}, "encoding='klingon' is not known. Use utf-8, utf-16 or latin-1"),
        ("größe,b\n1,2\n", {"encoding": "ascii"}, "is not ascii (ordinal not in range(128)). Say the encoding"),
        ("a,b\n1,\0\n", {}, "has a NUL character, so it is not a text, or not in the encoding utf-8"),
        ("\n\n \n", {}, "there is no line in it that is not blank"),
        ("a,b\n", {}, "it has a line of names and no line of data"),
        ("a\n1,2,3\n", {}, "the first line has 1 names, and others have 3 cells"),
        ("a,b,c,d\n1,2,3\n4,5,6\n", {}, "the first line has 4 names, and others have 3 cells"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, text, options, message):
    with pytest.raises(SourceError) as caught:
        curplus.open_source(written(tmp_path / "t.csv", text), **options)
    assert message in str(caught.value)
    assert str(tmp_path / "t.csv") in str(caught.value)


def test_text_far_down_is_found(tmp_path):
    text = "a,b\n" + "1,2\n" * 100_000 + "1,x\n"
    with pytest.raises(SourceError, match=r"'x' in line 100002, column 'b' is not a number"):
        curplus.open_source(written(tmp_path / "t.csv", text))


def test_a_table_may_be_wider_than_long(tmp_path, rng):
    frame = pd.DataFrame(rng.standard_normal((3, 20_000)))
    frame.to_csv(tmp_path / "wide.csv", sep=";", decimal=",")
    np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / "wide.csv")), frame.to_numpy())


def test_options_of_texts_are_for_texts(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(3))
    with pytest.raises(SourceError, match=r"sep=';' was given, but .*m.npy is a .npy file, and that is for texts"):
        curplus.open_source(tmp_path / "m.npy", sep=";")
    with pytest.raises(InvalidArgumentError, match=r"header=False was given, but what is no file takes none of these"):
        curplus.open_source(np.eye(3), header=False)
    with pytest.raises(SourceError, match=r"long=True was given, but .*m.npy is a .npy file, which is no table"):
        curplus.open_source(tmp_path / "m.npy", long=True)


ENDLESS = """
import resource, sys, curplus
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
try:
    curplus.open_source(sys.argv[1])
except curplus.exceptions.SourceError as error:
    print(error)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the memory of a process")
@pytest.mark.parametrize("content", [b"1,", b"\0", b"a", b'"1\n'], ids=["numbers", "NUL", "letters", "an open quote"])
def test_a_line_without_end_costs_little_memory(tmp_path, content):
    """A packed gigabyte; in a process of its own, whose memory is measured."""
    pytest.importorskip("pandas")
    with gzip.open(tmp_path / "endless.csv.gz", "wb", compresslevel=1) as stream:
        for _ in range(2**10 if content != b'"1\n' else 2**6):
            stream.write(content * (2**20 // len(content)))
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "endless.csv.gz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "endless.csv.gz" in done.stdout, done.stderr
    assert int(done.stdout.split()[-1]) < 1.5 * 2**20  # kilobytes


def test_standard_input_is_read_in_any_format(tmp_path):
    code = "import curplus; s = curplus.open_source('-'); print(s.shape, s.rows([1]).tolist())"
    array, sparse = io.BytesIO(), io.BytesIO()
    np.save(array, np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.savez(sparse, np.array([[1.0, 2.0], [3.0, 4.0]]))
    for content in (b"n;a;b\nx;1;2\ny;3;4\n", array.getvalue(), sparse.getvalue(), gzip.compress(b"a,b\n1,2\n3,4\n")):
        done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=False)
        assert done.stdout == b"(2, 2) [[3.0, 4.0]]\n", done.stderr
    done = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, check=False)
    assert b"nothing arrived on standard input" in done.stderr


# Round trips

LETTERS = st.text(st.characters(codec="latin-1", categories=("L", "N", "Zs", "P", "S")), min_size=1, max_size=8)
WORDS = LETTERS.map(str.strip).filter(lambda word: any(letter.isalpha() for letter in word))


def plain(word):
    """Names of which pandas and everybody else would say that they are text."""
    return word[0] not in "\"'=+-@#" and word.lower() not in ("inf", "infinity", "nan", "na", "true", "false", "null")


def is_utf8(content):
    try:
        return bool(content.decode("utf-8"))
    except UnicodeDecodeError:
        return False


@st.composite
def frames(draw):
    n, m = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000).map(float)
    values = np.array(draw(st.lists(st.lists(number, min_size=m, max_size=m), min_size=n, max_size=n)))
    values[draw(st.integers(0, n - 1)), draw(st.integers(0, m - 1))] = draw(st.sampled_from([NAN, 1.5]))
    words = st.lists(WORDS.filter(plain), min_size=n, max_size=n, unique=True)
    index = draw(words | st.just(list(range(n))))
    columns = draw(st.lists(WORDS.filter(plain), min_size=m, max_size=m, unique=True))
    return pd.DataFrame(values, index=index, columns=columns)


@given(
    frames(),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."), (",", ",")]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    st.booleans(),
    st.booleans(),
)
def test_a_table_that_pandas_writes_comes_back_equal(tmp_path_factory, frame, marks, encoding, index, header):
    (sep, decimal), path = marks, tmp_path_factory.mktemp("t") / "table.csv"
    assume(not any(mark in name for mark in ",;\t|" for name in [*frame.columns, *map(str, frame.index)]))
    counted = frame.index.dtype.kind == "i"
    frame.to_csv(path, sep=sep, decimal=decimal, encoding=encoding, index=index, header=header)
    first = frame.iloc[0].to_numpy()
    said = {"index_col": index} if counted and not header else {}
    if decimal == ",":  # 1,125 could be a thousand
        said["decimal"] = decimal
    if not header and (np.isnan(first[0]) or np.all(first[1:] > first[:-1])):  # this could be a line of names
        said["header"] = False
    if encoding == "latin-1" and is_utf8(path.read_bytes()):  # some letters of the one are other letters of the other
        said["encoding"] = encoding
    source = curplus.open_source(path, **said)
    np.testing.assert_array_equal(everything(source), frame.to_numpy())
    assert source.gaps == frame.isna().to_numpy().any()
    if header:
        assert source.column_names.tolist() == list(frame.columns)
    if index:
        assert source.row_names.tolist() == list(frame.index)


@pytest.mark.parametrize("kind", ["text", "frame"])
def test_rows_and_columns_of_one_name_are_kept_with_a_note(tmp_path, kind):
    frame = pd.DataFrame([[1.5, 2, 3], [4, 5, 6]], index=["x", "x"], columns=["a", "b", "a"])
    path = tmp_path / "t.csv"
    frame.to_csv(path)
    source = curplus.open_source(path if kind == "text" else frame)
    assert source.shape == (2, 3)
    texts = [note.text for note in source.notes if not note.name]
    assert texts == ["2 columns are called 'a', and each is kept", "2 rows are called 'x', and each is kept"]
    frame.set_axis(["x", "y"], axis=0).set_axis(list("abc"), axis=1).to_csv(path)
    assert all(note.name for note in curplus.open_source(path).notes)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("n,h\n1,170.5\n2,180\n3,175\n", {"index_col": False}),
        ("n,h\n0,170.5\n1,180\n2,175\n", {"index_col": False}),
        ("n,h\n1,170.5\n2,180\n4,175\n", {}),
        ("n,h\n1,1\n2,2\n3,3\n", {}),
        ("n,h\n1,170.5\n2,180\n", {}),
    ],
)
def test_a_first_column_that_counts_few_rows_is_numbers_with_a_note(tmp_path, text, notes):
    source = curplus.open_source(written(tmp_path / "t.csv", text))
    assert source.column_names.tolist() == ["n", "h"]
    assert found(source) == notes
