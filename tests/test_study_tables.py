"""Tables of all kinds are told to a study; what is wrong with a file is said, and nothing of it is kept or executed."""

import contextlib
import math
import random
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curplus import Study
from curplus.exceptions import CURPlusError, FileFormatError, InvalidArgumentError
from curplus.study import table_files
from curplus.study.names import escaped, unescaped
from tests.conftest import effort

pd = pytest.importorskip("pandas")

FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-x", "@sum(a1)", "'quoted", "../../etc/passwd", 'a,"b";c', "ünïcode", "2,5"]


@pytest.fixture
def study(tmp_path):
    with Study.create(
        tmp_path / "a ?#%.study", rows=[*FORMULAS, "plain"], columns=["c1", "rate [/s]", "height [cm]"]
    ) as s:
        yield s


def filled(path, kind):
    """A work list as somebody sends it back."""
    if kind == "csv":
        table = pd.read_csv(path, dtype=str)
        table["value"] = [str(k / 7) for k in range(len(table))]
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table = pd.read_parquet(path)
        table["value"] = np.arange(len(table)) / 7
        table.to_parquet(path)
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        for k in range(2, sheet.max_row + 1):
            sheet.cell(k, 4).value = (k - 2) / 7
        book.save(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "excel"])
def test_a_work_list_comes_back_filled_in(study, tmp_path, kind):
    if kind == "excel":
        pytest.importorskip("openpyxl")
    todo = study.ask(30)
    path = tmp_path / f"list.{'xlsx' if kind == 'excel' else kind}"
    getattr(todo, f"to_{kind}")(path)
    filled(path, kind)
    receipt = study.tell(path)
    assert (receipt.n_values, receipt.n_unasked, receipt.source) == (30, 0, path.name)
    records = study.records()
    assert records[["row", "column"]].to_numpy().tolist() == todo.cells.to_numpy().tolist()
    assert records["value"].tolist() == pytest.approx([k / 7 for k in range(30)], rel=1e-15 if kind == "excel" else 0)
    assert study.status().n_pending == 0


def test_no_cell_of_a_written_list_is_a_formula(study, tmp_path):
    todo = study.ask(30)
    todo.to_csv(tmp_path / "list.csv")
    lines = (tmp_path / "list.csv").read_text(encoding="utf-8")
    assert not any(f",{sign}" in lines or f',"{sign}' in lines for sign in "=+-@")
    openpyxl = pytest.importorskip("openpyxl")
    todo.to_excel(tmp_path / "list.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "list.xlsx").worksheets[0]
    assert {cell.data_type for line in sheet.iter_rows() for cell in line} <= {"s", "n"}


@given(st.text())
def test_what_is_escaped_comes_back(text):
    assert unescaped(escaped(text)) == text
    assert not escaped(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_are_not_escaped():
    assert escaped(-1.5) == -1.5


CONTENTS = {
    "commas": "row,column,value,note\nplain,c1,1.5,fine\nplain,rate [/s],,\n",
    "semicolons": "row;column;value\nplain;c1;1.5\nplain;rate [/s];\n",
    "tabs": "Row\tColumn\tVALUE\nplain\tc1\t1.5\nplain\trate [/s]\tNA\n",
    "a mark of UTF-8": "\ufeffrow,column,value\nplain,c1,1.5\nplain,rate [/s],nan\n",
    "Windows": "row,column,value\r\nplain,c1,1.5\r\nplain,rate [/s],\r\n",
    "blanks": "row,column,value\n plain , c1 , 1.5 \nplain,rate [/s],\n\n",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_long_files_are_read_as_people_write_them(study, tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content.encode())
    receipt = study.tell(str(tmp_path / "t.csv"))
    assert (receipt.n_values, receipt.n_failed) == (1, 1)
    assert study.records()["value"].tolist()[0] == 1.5


@pytest.mark.parametrize("separator", ",;\t")
def test_wide_files_are_read(study, tmp_path, separator):
    lines = [["", "c1", "height [cm]"], ["plain", "1", "2"], ["ünïcode", "", "4"]]
    (tmp_path / "t.csv").write_text("\n".join(separator.join(line) for line in lines), encoding="utf-8")
    assert study.tell(tmp_path / "t.csv").n_values == 3


def test_a_wide_frame_with_names_in_its_first_column_is_read(study, tmp_path):
    table = pd.DataFrame({"compound": ["plain", "+1"], "c1": [1.0, 2.0], "height [cm]": [3.0, math.nan]})
    assert study.tell(table).n_values == 3
    table.to_parquet(tmp_path / "t.parquet")
    assert not study.tell(tmp_path / "t.parquet").is_new


FAULTS = {
    "": "is empty",
    "row,column,value\n": "has no readings",
    "row,column\nplain,c1\n": "no column called value",
    "row,row,column,value\na,b,c,1\n": "2 columns called row",
    "row,column,value\nplain,c1\n": "has 2 fields and the header has 3",
    'row,column,value\nplain,"c1,1\n': "this is no CSV",
    "row,column,value\nplain,c1,=cmd|' /C calc'!A0\n": "the value is .=cmd|' /C calc'!A0., which is not a finite",
    "row,column,value\nplain,c1,1\0\n": "has a NUL byte",
    "row,column,value\npliain,c1,1\n": "line 2: no row is called 'pliain' \\(the nearest is 'plain'\\)",
    "row,column,value\n../plain,c1,1\n": "no row is called '../plain'",
    "x,c9,c1\nplain,1,2\n": "no column is called 'c9' \\(the nearest is 'c1'\\)",
    "row,column,value,corrects\nplain,c1,1,1.5\n": "not a record number",
}


@pytest.mark.parametrize(("content", "message"), FAULTS.items(), ids=map(repr, FAULTS))
def test_a_file_with_faults_is_refused_as_a_whole(study, tmp_path, content, message):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    with pytest.raises(CURPlusError, match=message.replace("|", r"\|").replace("[", r"\[")):
        study.tell(tmp_path / "t.csv")
    assert study.status().n_values == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row,column,value\nünïcode,c1,1\n".encode("latin-1"), "line 2 is not written in UTF-8"),
        ("row,column,value\nplain,c1,1\n".encode("utf-16"), "written in UTF-16"),
        (bytes(range(256)) * 4, "NUL byte|UTF-8"),
    ],
)
def test_other_encodings_are_named(study, tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        study.tell(tmp_path / "t.csv")


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_huge_line_costs_little_memory(study, tmp_path, quote):
    path = tmp_path / "t.csv"
    with path.open("w") as stream:
        stream.write(f"row,column,value\n{quote}")
        for _ in range(200):
            stream.write("a" * 2**20 + ("\n" if quote else ""))
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=r"longer than|this is no CSV"):
            study.tell(path)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PK\x03\x04" + bytes(100), bytes(1000)])
def test_damaged_files_are_refused(study, tmp_path, name, content):
    pytest.importorskip("openpyxl" if name.endswith("xlsx") else "pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match="cannot be read as"):
        study.tell(tmp_path / name)


@pytest.mark.parametrize("kind", ["parquet", "excel"])
def test_a_file_with_a_damaged_byte_is_a_table_or_a_clear_error(study, tmp_path, kind):
    pytest.importorskip("openpyxl" if kind == "excel" else "pyarrow")
    path = tmp_path / f"list.{'xlsx' if kind == 'excel' else kind}"
    getattr(study.ask(10), f"to_{kind}")(path)
    filled(path, kind)
    whole, chance = path.read_bytes(), random.Random(kind)
    for _ in range(effort(30, 1000)):
        content = bytearray(whole)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        with contextlib.suppress(CURPlusError), warnings.catch_warnings(action="ignore"):
            study.tell(path)


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(study, tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.setattr(table_files, "LARGEST_WORKBOOK", 2**20)
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(2**21))
    with pytest.raises(FileFormatError, match="2,097,152 bytes unpacked"):
        study.tell(tmp_path / "t.xlsx")


@pytest.mark.parametrize("table", ["missing.csv", "t.docx", ".", 3, [1.0], None])
def test_what_is_no_table_is_refused(study, tmp_path, table):
    with pytest.raises(InvalidArgumentError, match="Give"):
        study.tell(tmp_path / table if isinstance(table, str) else table)


@given(content=st.binary(max_size=200))
@example(content=b"\n")
@settings(max_examples=40)
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")
    study = Study.create(folder / "s", rows=["a", "b"], columns=["x", "y"])
    (folder / "t.csv").write_bytes(content)
    with contextlib.suppress(CURPlusError):
        study.tell(folder / "t.csv")
    assert study.observation().shape == (2, 2)


def test_blank_lines_are_skipped_wherever_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr("curplus.study.table_files.LINES_AT_ONCE", 2)
    (tmp_path / "t.csv").write_text("\n\nrow,column,value\n\n\n\n\na,x,1\n\n\n\nb,y,2\n\n")
    study = Study.create(tmp_path / "s", rows=["a", "b"], columns=["x", "y"])
    study.tell(tmp_path / "t.csv")
    assert study.observation().values.tolist() == [1, 2]


NAMES = {
    "no": [],
    "twice": ["a", "a"],
    "a blank": ["a", " "],
    "NUL": ["a\0b"],
    "a bell": ["a\ab"],
    "half a character": ["\ud800"],
    "long": ["a" * 1001],
    "a string": "abc",
    "zero": 0,
    "a truth value": True,
    "a float": 2.5,
}


@pytest.mark.parametrize("rows", NAMES.values(), ids=NAMES)
def test_names_must_be_names(tmp_path, rows):
    with pytest.raises(InvalidArgumentError, match="row"):
        Study.create(tmp_path / "x", rows=rows, columns=3)
    assert not list(tmp_path.iterdir())
