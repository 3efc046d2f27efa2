"""Options that several verbs share. What can be checked is checked here, before any work is done."""

from __future__ import annotations

import codecs
import inspect
import math
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
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
from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..observation import SampleCounts, default_counts
from ..observation.scale import check_scale
from ..sources.content import ending_of
from ..sources.file import READERS, STANDARD_INPUT
from ..sources.logs.open_logs import HARNESSES
from . import show

__all__ = [
    "Aim",
    "Design",
    "Json",
    "Level",
    "Logs",
    "MatrixFile",
    "Names",
    "Prices",
    "Range",
    "Rank",
    "Reading",
    "Sampling",
    "Scale",
    "Seed",
    "StudyFile",
    "Who",
    "Writing",
    "check_ending",
    "name_opt",
    "opt",
    "out_option",
    "spelled",
    "verb",
]

#: Values that are hard to read, or to type, in a shell.
SPELLED = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blank", ".": "point"}
MEANT = {"\\t": "\t", "blanks": " ", **{word: mark for mark, word in SPELLED.items()}}
LINE_NUMBERS = re.compile(r"\d+|\d+-\d+(,\d+-\d+)*")
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)


def opt(help: str, default: Any = None, *names: str, **how: Any) -> Any:
    """A field of a group of options: what it means, its default, and how it is spelled if not by its name."""
    return field(default=default, metadata={"option": typer.Option(*names, help=help, **how)})


def check_ending(path: Path | None, endings: tuple[str, ...]) -> Path | None:
    """A place where a file of one of these kinds can be saved, or None."""
    if path is None:
        return None
    if ending_of(path) not in endings:
        raise InvalidArgumentError(
            f"--out={path} does not say what to write: its ending is not one of {', '.join(endings)}. Add one of them."
        )
    try:
        with tempfile.TemporaryFile(dir=check_destination(path).parent):
            return path
    except OSError as error:
        raise InvalidArgumentError(f"{error.filename or path}: {error.strerror}.") from error


def out_option(what: str, endings: tuple[str, ...]) -> Any:
    """The option that says where to save, with the endings that the verb can write."""
    help = f"Save {what}: {', '.join(endings)}."
    return typer.Option(callback=lambda path: check_ending(path, endings), help=help)


def name_opt(known: Registry[Any], what: str, default: str) -> Any:
    """An option whose value is one of the names in a table."""
    return opt(f"{what}: {', '.join(known)}.", default, callback=lambda name: known.resolve(name) and name)


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


@dataclass(frozen=True)
class Writing:
    """How a table is written, where that is not found out by itself."""

    sep: str | None = opt(
        "What separates cells: comma, tab, semicolon, bar or blank, or the character.",
        callback=_mark("sep", ",\t;| ", "comma, tab, semicolon, bar or blank"),
    )
    decimal: str | None = opt("Decimal mark: point or comma.", callback=_mark("decimal", ".,", "point or comma"))
    encoding: str | None = opt("Encoding, such as latin-1.", callback=_encoding)
    sheet: str | None = opt("Sheet of a workbook: its name, or its position from 0.")
    skip_rows: str | None = opt(
        "Lines to leave out: 3 for the first three, 2-2 for the second, such as units, or several: 2-2,5-7.",
        callback=_lines,
    )
    na_values: str | None = opt("What else is a gap: ND, or several: 'ND,n.d.'.", callback=_words)

    def as_keywords(self) -> dict[str, Any]:
        """The keywords of :func:`curplus.open_source` that were said."""
        said = {name: value for name, value in vars(self).items() if value is not None}
        three = said.pop("long_columns", None)
        return said if three is None else said | {"long": tuple(three.split(","))}


@dataclass(frozen=True)
class Reading(Writing):
    """How a file is to be read, where that is not found out by itself."""

    header: bool | None = opt("Whether the first line has the names of columns.")
    index_col: str | None = opt(
        "Column with the names of rows: its name, its position from 0, or none.", callback=_column
    )
    long: bool | None = opt("Whether each line has a row, a column and a value.", None, "--long/--wide")
    long_columns: str | None = opt("The columns of a long table that hold row, column and value: 'user,film,rating'.")
    dataset: str | None = opt("Which matrix of a file that holds several.")
    external: bool | None = opt(
        "Follow an HDF5 file to other files; only for files that you trust.", None, "--external"
    )
    memory_limit: str | None = opt("Most memory for chunks of a large file, such as 2GB.", callback=_size)


@dataclass(frozen=True)
class Logs:
    """What logs of evaluations are read, and how."""

    format: str | None = opt(f"Logs of an evaluation of language models: {', '.join(HARNESSES)}.")
    metric: list[str] | None = opt("Which score of a log counts; one for each kind of task.")
    filter: list[str] | None = opt("Which filter of a log counts, if a task has several.")
    model: str | None = opt("Name of the model, if the logs do not have it.")

    def as_keywords(self, of_tables: dict[str, Any]) -> dict[str, Any]:
        """The keywords of :func:`curplus.sources.open_logs` that were said, or else those ``of_tables``."""
        said = {x.name: getattr(self, x.name) for x in fields(Logs) if getattr(self, x.name)}
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


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise InvalidArgumentError(f"--level={level} is not between 0 and 1. Give for example 0.95.")
    return level


Level = Annotated[float, typer.Option(callback=_check_level, help="Confidence of the interval.")]
Rank = Annotated[int | None, typer.Option(help="Target rank; if left out, the data decide.")]
Scale = Annotated[
    str | None,
    typer.Option(callback=check_scale, help="log: fit logarithms of positive values; answers are in units again."),
]
Design = Annotated[
    str | None, typer.Option(help='"uniform" promises that chance alone chose the values of a long table.')
]
Names = Annotated[list[str] | None, typer.Option(help="By name; may be given several times.")]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The file of the study.")]
Who = Annotated[str | None, typer.Option(help="Who it was; the user of the computer if left out.")]
Seed = Annotated[
    int, typer.Option(callback=lambda seed: check_count(seed, name="--seed"), help="Seed of all that is drawn.")
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
class Range:
    """What values are never beyond."""

    min_value: float | None = opt("Predicted values are not below this; measured ones stay.")
    max_value: float | None = opt("Predicted values are not above this; measured ones stay.")


@dataclass(frozen=True)
class Sampling:
    """How much to read, where that is not decided by the library."""

    columns: int | None = opt("How many columns to read; 5 x rank or all if left out.")
    rows: int | None = opt("How many rows to read; 5 x rank or all if left out.")
    entries: int | None = opt("How many entries to read; 20 x rank^2 or all if left out.")
    budget: float | None = opt(
        "How much to read: below 1 a share of the matrix, else a number of values; money with prices."
    )
    seed: Seed = 0

    @property
    def said(self) -> dict[str, Any]:
        """The numbers that were said, as functions of the library call them."""
        return {"n_columns": self.columns, "n_rows": self.rows, "n_entries": self.entries}

    def counts(self, shape: Shape, rank: int | None) -> SampleCounts:
        """How much to read: what was asked for, and the library's defaults for the rest."""
        default = default_counts(shape, None if rank is None else check_count(rank, name="--rank", at_least=1))
        most = shape[1], shape[0], shape[0] * shape[1]
        return SampleCounts(
            *(
                usual if count is None else check_count(count, name=f"--{of}", at_most=limit, of=of)
                for of, count, usual, limit in zip(
                    ("columns", "rows", "entries"), self.said.values(), default, most, strict=True
                )
            )
        )


BEST_PREFIX = "best:"


@dataclass(frozen=True)
class Aim:
    """What values are read or bought for."""

    goal: str = opt("What it is for: matrix, means (with --width), or best:3, the rows with the best means.", MATRIX)
    width: float | None = opt("How wide the interval of a mean may be, for --goal means.")
    smallest: bool = opt("For --goal best:3: small means are good, not large ones.", False, "--smallest")

    def as_goal(self) -> str | Best:
        """The goal that was written."""
        if self.goal.startswith(BEST_PREFIX) and self.goal.removeprefix(BEST_PREFIX).isdecimal():
            return Best(int(self.goal.removeprefix(BEST_PREFIX)), largest=not self.smallest)
        if self.goal not in (MATRIX, MEANS):
            raise InvalidArgumentError(
                f"--goal {self.goal} is none. Write matrix, means, or best:3 for the 3 best rows."
            )
        if self.smallest:
            raise InvalidArgumentError(f"--smallest is for --goal best:3, and the goal is {self.goal}. Leave it out.")
        return self.goal


def _check_price(price: float | None) -> float | None:
    if price is not None and not 0 < price < math.inf:
        raise InvalidArgumentError(f"a price of {price:g} is not above 0. Prices are positive numbers.")
    return price


@dataclass(frozen=True)
class Prices:
    """What a whole row, a whole column and a single entry cost."""

    row_price: float | None = opt("Its entries' prices if left out.", callback=_check_price)
    column_price: float | None = opt("Its entries' prices if left out.", callback=_check_price)
    entry_price: float | None = opt("1 if left out. A price makes budgets money.", callback=_check_price)

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
        parameters += [_option(x.name, _annotated(hints[x.name], x), x.default) for x in fields(kind)]

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
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _annotated(hint: Any, field: Field[Any]) -> Any:
    return Annotated[hint, field.metadata["option"]] if "option" in field.metadata else hint
