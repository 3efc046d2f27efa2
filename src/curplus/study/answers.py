"""The answer so far, fitted once for what is known and remembered; and answers by name: lists, readings, cells."""

from __future__ import annotations

import math
import secrets
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._support.replacing import full_disk_in_words
from .._typing import IndexVector
from ..evaluation import Certificate, Decision, certify, predict_interval
from ..evaluation.residual import Residual
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation
from ..observation.bounds import bound_text
from ..observation.scale import LOG, logarithm_of_limit
from .ledger import observation_of
from .names import Axis, escaped
from .progress import is_judged, round_of
from .schema import WIDTH
from .sqlite import SQLiteStorage
from .storage import ListInfo, Round, Snapshot, moment_of
from .worklist import pandas_for_studies

__all__ = ["Fits", "Fitted", "judged", "lists_frame", "prediction_frame", "records_frame", "write_tables"]

MOST_PREDICTED = 50_000_000  # lines of a table
ENDS = ["value", "low", "high"]
RECORD = ["record", "cell", "value", "side", "list", "note", "time", "corrects", "asked", "told_at", "who", "source"]


class Fitted(NamedTuple):
    """An approximation, and what it knew."""

    last_tell: int
    last_list: int
    last_change: int
    n_values: int
    observation: Observation
    approximation: Factorization


class Fits:
    """Approximations of what a place knows; the last one is kept until more is known."""

    def __init__(self, storage: SQLiteStorage) -> None:
        self._storage = storage
        self._last: Fitted | None = None

    def now(self) -> Fitted:
        """The approximation of all that is known."""
        snapshot = self._storage.snapshot()
        settings, state = snapshot.settings, (snapshot.last_tell, snapshot.last_list, snapshot.last_change)
        if self._last is None or self._last[:3] != state:
            observation = observation_of(snapshot, settings, settings.records)
            if not any(observation.counts):
                raise InvalidArgumentError(
                    "nothing was measured yet, so there is nothing to fit. Tell some values first."
                )
            approximation = approximate(observation, settings.rank)
            self._last = Fitted(*state, snapshot.n_values, observation, approximation)
        return self._last

    def judge(self, fitted: Fitted, level: float) -> Certificate:
        """How good an approximation is; the error is kept, once for each table that was told or promised."""
        certificate = certify(fitted.approximation, fitted.observation, level=level)
        if not self._storage.is_read_only and not is_judged(self._storage.rounds(), certificate, fitted.last_tell):
            spent = self._storage.summary().spent
            self._storage.add_round(judged(fitted, certificate, spent))
        return certificate

    def remember(self, decision: Decision, snapshot: Snapshot) -> None:
        """Keep that something is decided, once for each table that was told."""
        if not decision.is_decided or self._storage.is_read_only:
            return
        if not is_judged(self._storage.rounds(), decision, snapshot.last_tell):
            spent, now, no_error = self._storage.summary().spent, datetime.now().astimezone(), 4 * (math.nan,)
            known = now, snapshot.last_tell, snapshot.n_values, spent
            self._storage.add_round(Round(*known, *no_error, decision.reason))


def judged(fitted: Fitted, certificate: Certificate, spent: float) -> Round:
    """What is remembered of a certificate; the error at the values that the fit left out if it has no estimate."""
    left_out = _left_out(fitted) if math.isnan(certificate.error) else (math.nan, math.nan)
    return round_of(certificate, fitted.last_tell, fitted.n_values, spent, left_out)


def _left_out(fitted: Fitted) -> tuple[float, float]:
    """Norm of an error like that at the values that the fit left out, and its share of the matrix; nan without any."""
    left_out = (fact.value for fact in fitted.approximation.report.facts if fact.name == "left_out_error")
    residual = Residual(fitted.approximation, fitted.observation)
    error = next(left_out, math.nan) * math.sqrt(math.prod(fitted.observation.shape))
    norm = residual.matrix_norm() * residual.unit
    return error, error / norm if norm else math.nan


def lists_frame(lists: Iterable[ListInfo]) -> Any:
    """All lists: when and by whom they were asked for, how many cells, how many pending."""
    columns = [name for name in ListInfo._fields if name != "purpose"]
    return pandas_for_studies().DataFrame(lists, columns=ListInfo._fields)[columns]


def records_frame(records: list[tuple[Any, ...]], rows: Axis, columns: Axis) -> Any:
    """All readings, by name."""
    pandas = pandas_for_studies()
    cells = np.asarray([row[1] for row in records], dtype=np.int64)
    frame = pandas.DataFrame(records, columns=RECORD)
    frame["told_at"] = pandas.to_datetime([moment_of(at) for at in frame["told_at"]], utc=True)
    frame = frame.astype({"list": "Int64", "corrects": "Int64", "asked": bool, "value": float})
    frame.insert(1, "column", columns.labels(cells % WIDTH))
    frame.insert(1, "row", rows.labels(cells // WIDTH))
    if (is_bound := frame["side"] != 0).any():
        texts = map(bound_text, frame["value"][is_bound], frame["side"][is_bound])
        frame["value"] = frame["value"].astype(object)
        frame.loc[is_bound, "value"] = list(texts)
    return frame.drop(columns=["cell", "side"])


def prediction_frame(
    fitted: Fitted,
    axes: tuple[Axis, Axis],
    rows: IndexVector,
    columns: IndexVector,
    level: float,
    limits: tuple[float | None, float | None] = (None, None),
    scale: str | None = None,
) -> Any:
    """Values of all cells of some rows in some columns, their intervals, and whether they were measured."""
    if len(rows) * len(columns) > MOST_PREDICTED:
        raise InvalidArgumentError(
            f"{len(rows):,} rows and {len(columns):,} columns make more than {MOST_PREDICTED:,} lines. Predict some "
            "rows at a time."
        )
    cells = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    low, high = map(logarithm_of_limit, limits) if scale == LOG else limits
    found = predict_interval(
        fitted.approximation, fitted.observation, *cells, level=level, min_value=low, max_value=high
    )
    frame = found.to_frame()
    if scale == LOG:
        frame[ENDS] = np.exp(frame[ENDS])
    return frame.assign(**{axis.what: axis.labels(at) for axis, at in zip(axes, cells, strict=True)})


def write_tables(folder: Path, tables: Mapping[str, Any]) -> None:
    """Write tables as CSV files into a new folder, which appears when it is complete.

    Numbers come back bit for bit. A text that a spreadsheet would take for a formula starts with an apostrophe.
    """
    if folder.exists():
        raise InvalidArgumentError(f"{folder} exists already. Give a folder that does not exist yet.")
    if not folder.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {folder.parent}. Make it before a study is exported to it.")
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        with full_disk_in_words(folder):
            temporary.mkdir()
            for name, frame in tables.items():
                frame.map(escaped).to_csv(temporary / f"{name}.csv", index=False)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
