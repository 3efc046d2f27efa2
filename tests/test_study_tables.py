"""Tables of all kinds are told to a study; what is wrong with a file is said, and nothing of it is kept or executed."""

import contextlib
import math
import random
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curplus import Study
from curplus.exceptions import CURPlusError, InvalidArgumentError, SourceError
from curplus.sources import excel
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
    assert records[["row", "column"]].to_numpy().tolist() == todo.cells[["row", "column"]].to_numpy().tolist()
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
    assert study.tell(tmp_path / "t.parquet").n_values == 3


FAULTS = {
    "": "there is no line in it that is not blank",
    "row,column,value\n": "a line of names and no line of data",
    "row,column\nplain,c1\n": "no column called value",
    "row,row,column,value\na,b,c,1\n": "2 columns called row",
    "row,column,value\nplain,c1\n": "the first line has 3 names, and others have 2 cells. If the file was cut off",
    'row,column,value\nplain,"c1,1\n': "the first line has 3 names, and others have 2 cells",
    "row,column,value\nplain,c1,=cmd|' /C calc'!A0\n": "the value is .=cmd|' /C calc'!A0., which is not a finite",
    "row,column,value\nplain,c1,1\0\n": "line 2 has a NUL character",
    "row,column,value\npliain,c1,1\n": "line 2: no row is called 'pliain' \\(the nearest is 'plain'\\)",
    "row,column,value\n../plain,c1,1\n": "no row is called '../plain'",
    "x,c9,c1\nplain,1,2\n": "no column is called 'c9' \\(the nearest is 'c1'\\)",
    "row,column,value,list\nplain,c1,1,0\n": "list is 0, not the number of a work list",
    "compound,c1\nplain,1\n+1,2\nplain,9\n": "line 4: a second row is called 'plain'. Keep one, or tell repeats as a",
    "compound,c1,rate [/s],c1\nplain,1,2,3\n": "line 1: a second column is called 'c1'",
    "row,column,value,corrects\nplain,c1,1,1.5\n": "corrects is 1.5, not the number of a record",
}


@pytest.mark.parametrize(("content", "message"), FAULTS.items(), ids=map(repr, FAULTS))
def test_a_file_with_faults_is_refused_as_a_whole(study, tmp_path, content, message):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    with pytest.raises(CURPlusError, match=message.replace("|", r"\|").replace("[", r"\[")):
        study.tell(tmp_path / "t.csv")
    assert study.status().n_values == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_found_out(study, tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("row,column,value\nünïcode,c1,1\n".encode(encoding))
    assert study.tell(tmp_path / "t.csv").n_values == 1


def test_bytes_that_are_no_text_are_refused(study, tmp_path):
    (tmp_path / "t.csv").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(SourceError, match="line 1 has a NUL character"):
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
        with pytest.raises(SourceError, match=r"has more than|is not one of a table"):
            study.tell(path)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PK\x03\x04" + bytes(100), bytes(1000)])
def test_damaged_files_are_refused(study, tmp_path, name, content):
    pytest.importorskip("openpyxl" if name.endswith("xlsx") else "pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match="cannot be read as"):
        study.tell(tmp_path / name)


@pytest.mark.parametrize(("kind", "may_differ"), [("parquet", 1), ("excel", 0)])
def test_a_file_with_a_damaged_byte_is_the_same_table_or_a_clear_error(study, tmp_path, kind, may_differ):
    """Parquet files have no checksums: a changed byte of a value may be read as another value."""
    pytest.importorskip("openpyxl" if kind == "excel" else "pyarrow")
    path = tmp_path / f"list.{'xlsx' if kind == 'excel' else kind}"
    todo = study.ask(10)
    expected = {tuple(cell): k / 7 for k, cell in enumerate(todo.cells[["row", "column"]].to_numpy().tolist())}
    getattr(todo, f"to_{kind}")(path)
    filled(path, kind)
    whole, chance, n_before = path.read_bytes(), random.Random(kind), 0
    for _ in range(effort(30, 1000)):
        content = bytearray(whole)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        was_told = False
        with contextlib.suppress(CURPlusError), warnings.catch_warnings(action="ignore"):
            study.tell(path)
            was_told = True
        records = study.records()[["row", "column", "value"]].to_numpy().tolist()
        new, n_before = records[n_before:], len(records)
        assert was_told or not new
        assert len(new) in (0, 10)  # what was told already is not kept twice
        wrong = [v for i, j, v in new if v != pytest.approx(expected[i, j], rel=1e-15)]
        assert len(wrong) <= may_differ
    assert n_before >= 10


def test_a_workbook_that_asks_for_a_program_of_the_future_is_refused(study, tmp_path):
    workbook(tmp_path / "t.xlsx", [["row", "column", "value"], ["plain", "c1", 1.0]])
    content = bytearray((tmp_path / "t.xlsx").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 84
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(SourceError, match=r"cannot be read as an Excel workbook: zip file version 8\.4"):
        study.tell(tmp_path / "t.xlsx")


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(study, tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.setattr(excel, "LARGEST_WORKBOOK", 2**20)
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(2**21))
    with pytest.raises(SourceError, match="2,097,152 bytes unpacked"):
        study.tell(tmp_path / "t.xlsx")


@pytest.mark.parametrize("table", ["missing.csv", "t.docx", ".", 3, [1.0], None])
def test_what_is_no_table_is_refused(study, tmp_path, table):
    with pytest.raises(InvalidArgumentError, match="Give"):
        study.tell(tmp_path / table if isinstance(table, str) else table)


@given(content=st.binary(max_size=200))
@example(content=b"\n")
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")
    study = Study.create(folder / "s", rows=["a", "b"], columns=["x", "y"])
    (folder / "t.csv").write_bytes(content)
    with contextlib.suppress(CURPlusError):
        study.tell(folder / "t.csv")
    assert study.observation().shape == (2, 2)


def workbook(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for k, lines in enumerate(sheets):
        sheet = book.worksheets[0] if not k else book.create_sheet(f"more {k}")
        for line in lines:
            sheet.append(line)
    book.save(path)


def test_a_formula_without_its_result_is_no_failed_measurement(study, tmp_path):
    workbook(tmp_path / "t.xlsx", [["row", "column", "value"], ["plain", "c1", 1.0], ["+1", "c1", "=1+1"]])
    with pytest.raises(SourceError, match=r"row 3 has the formula '=1\+1' and no stored value"):
        study.tell(tmp_path / "t.xlsx")
    assert study.status().n_failed == 0


def test_one_of_several_sheets_is_told_by_its_name(study, tmp_path):
    lines = [["row", "column", "value"], ["plain", "c1", 1.0]]
    workbook(tmp_path / "t.xlsx", lines, [["row", "column", "value"], ["+1", "c1", 2.0]])
    with pytest.raises(SourceError, match=r"it has the sheets Sheet, more 1\. Say which: sheet='Sheet'"):
        study.tell(tmp_path / "t.xlsx")
    assert study.tell(tmp_path / "t.xlsx", sheet="more 1").n_values == 1
    assert study.records()["row"].tolist() == ["+1"]


@pytest.mark.parametrize("column", ["c1", "rate [/s]"])
def test_a_row_may_have_one_line_of_a_wide_table_also_where_the_file_is_read_in_pieces(
    study, tmp_path, monkeypatch, column
):
    monkeypatch.setattr("curplus.sources.cells.BLOCK_CELLS", 4)
    lines = ["+1,1", "@sum(a1),2", "plain,3", "+1,4"]
    (tmp_path / "t.csv").write_text("\n".join([f"compound,{column}", *lines]))
    with pytest.raises(InvalidArgumentError, match=r"line 5: a second row is called '\+1'"):
        study.tell(tmp_path / "t.csv")


def test_blank_lines_are_skipped_wherever_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr("curplus.sources.cells.BLOCK_CELLS", 3)
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
    "one as another is written in a spreadsheet": ["=x", "'=x"],
}


@pytest.mark.parametrize("rows", NAMES.values(), ids=NAMES)
def test_names_must_be_names(tmp_path, rows):
    with pytest.raises(InvalidArgumentError, match="row"):
        Study.create(tmp_path / "x", rows=rows, columns=3)
    assert not list(tmp_path.iterdir())
