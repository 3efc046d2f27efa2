"""Options that several verbs share. What can be checked is checked here, before any work is done."""

from __future__ import annotations

import codecs
import inspect
import math
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from .._files import check_destination
from .._support.registry import Registry
from .._typing import Shape
from .._validation import check_count
from ..acquisition import Costs
from ..acquisition.goals import MATRIX, MEANS
from ..evaluation import Best, decide
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..observation import Observation, SampleCounts, default_counts
from ..observation.scale import check_scale
from ..sources.content import ending_of
from ..sources.file import READERS, STANDARD_INPUT
from ..sources.logs.open_logs import HARNESSES
from . import show

__all__ = [
    "Design",
    "Goal",
    "Json",
    "Limit",
    "Logs",
    "MatrixFile",
    "Prices",
    "Rank",
    "Reading",
    "Sampling",
    "Scale",
    "Seed",
    "Smallest",
    "Width",
    "Writing",
    "as_goal",
    "check_ending",
    "counts",
    "decision_facts",
    "name_option",
    "out_option",
    "spelled",
    "verb",
]

#: Values that are hard to read, or to type, in a shell.
SPELLED = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blank", ".": "point"}
MEANT = {"\\t": "\t", "blanks": " ", **{word: mark for mark, word in SPELLED.items()}}
LINE_NUMBERS = re.compile(r"\d+|\d+-\d+(,\d+-\d+)*")
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)


def check_seed(seed: int) -> int:
    """A seed that a random generator takes."""
    return check_count(seed, name="--seed")


def check_writable(path: Path | None) -> Path | None:
    """A place where a file can be saved, or None."""
    if path is not None:
        try:
            with tempfile.TemporaryFile(dir=check_destination(path).parent):
                pass
        except OSError as error:
            raise InvalidArgumentError(f"{error.filename or path}: {error.strerror}.") from error
    return path


def check_ending(path: Path | None, endings: tuple[str, ...]) -> Path | None:
    """A place where a file of one of these kinds can be saved, or None."""
    if path is not None and ending_of(path) not in endings:
        raise InvalidArgumentError(
            f"--out={path} does not say what to write: its ending is not one of {', '.join(endings)}. Add one of them."
        )
    return check_writable(path)


def out_option(what: str, endings: tuple[str, ...]) -> Any:
    """The option that says where to save, with the endings that the verb can write."""

    def check(path: Path | None) -> Path | None:
        return check_ending(path, endings)

    return typer.Option(callback=check, help=f"Save {what}: {', '.join(endings)}.")


def name_option(known: Registry[Any], what: str) -> Any:
    """An option whose value is one of the names in a table."""

    def check(name: str) -> str:
        known.resolve(name)
        return name

    return typer.Option(callback=check, help=f"{what}: {', '.join(known)}.")


def counts(shape: Shape, rank: int | None, columns: int | None, rows: int | None, entries: int | None) -> SampleCounts:
    """How much to read: what was asked for, and the library's defaults for the rest."""
    n, m = shape
    default = default_counts(shape, None if rank is None else check_count(rank, name="--rank", at_least=1))
    return SampleCounts(
        default.n_columns if columns is None else check_count(columns, name="--columns", at_most=m, of="columns"),
        default.n_rows if rows is None else check_count(rows, name="--rows", at_most=n, of="rows"),
        default.n_entries if entries is None else check_count(entries, name="--entries", at_most=n * m, of="entries"),
    )


def _size(text: str | None) -> Any:
    if text is None:
        return None
    found = SIZE.fullmatch(text)
    if not found:
        raise InvalidArgumentError(f"--memory-limit={text} is not a size. Give bytes, or for example 500MB or 2GB.")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2].lower() or " "))


def _mark(option: str, marks: str, words: str) -> Callable[[str | None], str | None]:
    """What reads the option of a separator, or of a decimal mark."""

    def read(text: str | None) -> str | None:
        mark = None if text is None else MEANT.get(text.lower(), text)
        if mark is not None and (len(mark) > 1 or mark not in marks):
            raise InvalidArgumentError(f"--{option}={text} is unknown. Use {words}.")
        return mark

    return read


def _encoding(text: str | None) -> str | None:
    try:
        codecs.lookup(text or "utf-8")
    except LookupError:
        raise InvalidArgumentError(f"--encoding={text} is not known. Use utf-8, utf-16 or latin-1.") from None
    return text


def _lines(text: str | None) -> Any:
    """How many lines at the top, or which."""
    if text is not None and not LINE_NUMBERS.fullmatch(text):
        raise InvalidArgumentError(
            f"--skip-rows={text} names no lines. Give 3 for the first three, 2-2 for the second."
        )
    if text is None or text.isdigit():
        return text and int(text)
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return [line for first, last in ends for line in range(first, last + 1)]


def _words(text: str | None) -> Any:
    return text and [text, *text.split(",")]


def _column(text: str | None) -> Any:
    return text if text is None else False if text.lower() == "none" else int(text) if text.isdigit() else text


SEP_HELP = "What separates cells: comma, tab, semicolon, bar or blank, or the character."
SKIP_HELP = "Lines to leave out: 3 for the first three, 2-2 for the second, such as units, or several: 2-2,5-7."
Sep = Annotated[
    str | None, typer.Option(callback=_mark("sep", ",\t;| ", "comma, tab, semicolon, bar or blank"), help=SEP_HELP)
]
Decimal = Annotated[
    str | None, typer.Option(callback=_mark("decimal", ".,", "point or comma"), help="Decimal mark: point or comma.")
]
Encoding = Annotated[str | None, typer.Option(callback=_encoding, help="Encoding, such as latin-1.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook: its name, or its position from 0.")]
SkipRows = Annotated[str | None, typer.Option(callback=_lines, help=SKIP_HELP)]
NaValues = Annotated[str | None, typer.Option(callback=_words, help="What else is a gap: ND, or several: 'ND,n.d.'.")]


@dataclass(frozen=True)
class Writing:
    """How a table is written, where that is not found out by itself."""

    sep: Sep = None
    decimal: Decimal = None
    encoding: Encoding = None
    sheet: Sheet = None
    skip_rows: SkipRows = None
    na_values: NaValues = None

    def as_keywords(self) -> dict[str, Any]:
        """The keywords of :func:`curplus.open_source` that were said."""
        said = {name: value for name, value in vars(self).items() if value is not None}
        three = said.pop("long_columns", None)
        return said if three is None else said | {"long": tuple(three.split(","))}


@dataclass(frozen=True)
class Reading(Writing):
    """How a file is to be read, where that is not found out by itself."""

    header: Annotated[bool | None, typer.Option(help="Whether the first line has the names of columns.")] = None
    index_col: Annotated[
        str | None,
        typer.Option(callback=_column, help="Column with the names of rows: its name, its position from 0, or none."),
    ] = None
    long: Annotated[
        bool | None, typer.Option("--long/--wide", help="Whether each line has a row, a column and a value.")
    ] = None
    long_columns: Annotated[
        str | None,
        typer.Option(help="The columns of a long table that hold row, column and value: 'user,film,rating'."),
    ] = None
    dataset: Annotated[str | None, typer.Option(help="Which matrix of a file that holds several.")] = None
    external: Annotated[
        bool | None,
        typer.Option("--external", help="Follow an HDF5 file to other files; only for files that you trust."),
    ] = None
    memory_limit: Annotated[
        str | None, typer.Option(callback=_size, help="Most memory for chunks of a large file, such as 2GB.")
    ] = None


Harness = Annotated[
    str | None, typer.Option("--format", help=f"Logs of an evaluation of language models: {', '.join(HARNESSES)}.")
]
Score = Annotated[list[str] | None, typer.Option(help="Which score of a log counts; one for each kind of task.")]
Filter = Annotated[list[str] | None, typer.Option(help="Which filter of a log counts, if a task has several.")]
LogModel = Annotated[str | None, typer.Option(help="Name of the model, if the logs do not have it.")]


@dataclass(frozen=True)
class Logs:
    """What logs of evaluations are read, and how."""

    format: Harness = None
    metric: Score = None
    filter: Filter = None
    model: LogModel = None

    def as_keywords(self, of_tables: dict[str, Any]) -> dict[str, Any]:
        """The keywords of :func:`curplus.sources.open_logs` that were said, or else those ``of_tables``."""
        said = {name: value for name, value in vars(self).items() if value}
        if said and self.format is None:
            raise InvalidArgumentError(f"--{next(iter(said))} is for logs of evaluations. Give --format as well.")
        if said and of_tables:
            raise InvalidArgumentError(f"{spelled(*next(iter(of_tables.items())))} is for tables, --format for logs.")
        return said or of_tables


def spelled(name: str, value: Any) -> str:
    """An option of :func:`curplus.open_source`, as it is written on the command line."""
    dashed = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return dashed if value else {"index_col": f"{dashed} none", "long": "--wide"}.get(name, f"--no-{name}")
    if isinstance(value, (list, tuple)):
        value = ",".join(f"{part}-{part}" if name == "skip_rows" else str(part) for part in value)
        dashed = "--long-columns" if name == "long" else dashed
    return f"{dashed} {shlex.quote(SPELLED.get(str(value), str(value)))}"


Rank = Annotated[int | None, typer.Option(help="Target rank; if left out, the data decide.")]
Scale = Annotated[
    str | None,
    typer.Option(callback=check_scale, help="log: fit logarithms of positive values; answers are in units again."),
]
Design = Annotated[
    str | None, typer.Option(help='"uniform" promises that chance alone chose the values of a long table.')
]
Limit = Annotated[float | None, typer.Option(help="Predicted values are not beyond this; measured ones stay.")]
Columns = Annotated[int | None, typer.Option(help="How many columns to read; 5 x rank or all if left out.")]
Rows = Annotated[int | None, typer.Option(help="How many rows to read; 5 x rank or all if left out.")]
Entries = Annotated[int | None, typer.Option(help="How many entries to read; 20 x rank^2 or all if left out.")]
Seed = Annotated[int, typer.Option(callback=check_seed, help="Seed of all that is drawn.")]
Budget = Annotated[
    float | None,
    typer.Option(help="How much to read: below 1 a share of the matrix, else a number of values; money with prices."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
MatrixFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=f"A matrix or table ({', '.join(READERS)}, .csv.gz), or {STANDARD_INPUT} for standard input, or an "
        "observation that curplus saved.",
    ),
]


@dataclass(frozen=True)
class Sampling:
    """How much to read, where that is not decided by the library."""

    columns: Columns = None
    rows: Rows = None
    entries: Entries = None
    budget: Budget = None
    seed: Seed = 0


BEST_PREFIX = "best:"

Goal = Annotated[
    str, typer.Option(help="What it is for: matrix, means (with --width), or best:3, the rows with the best means.")
]
Width = Annotated[float | None, typer.Option(help="How wide the interval of a mean may be, for --goal means.")]
Smallest = Annotated[bool, typer.Option("--smallest", help="For --goal best:3: small means are good, not large ones.")]


def as_goal(text: str, *, smallest: bool) -> str | Best:
    """The goal that was written."""
    if text.startswith(BEST_PREFIX) and text.removeprefix(BEST_PREFIX).isdecimal():
        return Best(int(text.removeprefix(BEST_PREFIX)), largest=not smallest)
    if text not in (MATRIX, MEANS):
        raise InvalidArgumentError(f"--goal {text} is none. Write matrix, means, or best:3 for the 3 best rows.")
    if smallest:
        raise InvalidArgumentError(f"--smallest is for --goal best:3, and the goal is {text}. Leave it out.")
    return text


def decision_facts(observation: Observation, goal: Any) -> list[Fact]:
    """What is decided, if the best are looked for."""
    return list(decide(observation, goal).facts[1:]) if isinstance(goal, Best) else []


def _check_price(price: float | None) -> float | None:
    if price is not None and not 0 < price < math.inf:
        raise InvalidArgumentError(f"a price of {price:g} is not above 0. Prices are positive numbers.")
    return price


Price = Annotated[float | None, typer.Option(callback=_check_price, help="Its entries' prices if left out.")]
EntryPrice = Annotated[
    float | None, typer.Option(callback=_check_price, help="1 if left out. A price makes budgets money.")
]


@dataclass(frozen=True)
class Prices:
    """What a whole row, a whole column and a single entry cost."""

    row_price: Price = None
    column_price: Price = None
    entry_price: EntryPrice = None

    def as_costs(self) -> Costs | None:
        """The prices that were said, or None if none was."""
        if self == Prices():
            return None
        return Costs(self.row_price, self.column_price, 1.0 if self.entry_price is None else self.entry_price)


def verb(function: Callable[..., Iterable[Fact]]) -> Callable[..., None]:
    """A verb of the command line: the facts that it returns are printed as text, or as JSON with the option --json.

    A parameter whose type is a group of options, such as ``Reading``, is an option for each field.
    """
    kinds, own = get_type_hints(function, include_extras=True), inspect.signature(function).parameters
    groups: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    parameters = [_option(name, kinds[name], x.default) for name, x in own.items() if name not in groups]
    if "json" not in own:
        parameters.append(_option("json", Json, False))
    for kind in groups.values():
        hints = get_type_hints(kind, include_extras=True)
        parameters += [_option(field.name, hints[field.name], field.default) for field in fields(kind)]

    @wraps(function)
    def called(**given: Any) -> None:
        as_json = given["json"] if "json" in own else given.pop("json")
        made = {name: kind(**{x.name: given.pop(x.name) for x in fields(kind)}) for name, kind in groups.items()}
        show.result(function(**given, **made), as_json=as_json)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del called.__wrapped__
    return called


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
