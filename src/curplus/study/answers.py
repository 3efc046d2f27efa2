"""What a study knows, and what it answers: the half of it that asks for nothing."""

from __future__ import annotations

import secrets
import shutil
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from .._support.replacing import full_disk_in_words
from .._validation import check_count
from ..evaluation import Best, Certificate, Decision, MeanEstimates, certify, decide, estimate_means, predict_interval
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..factorization.report import facts_as_html
from ..methods import approximate
from ..observation import Observation
from ..observation.bounds import bound_text
from ..observation.scale import LOG, logarithm_of_limit
from .drafting import compared, positioned
from .ledger import observation_of
from .names import escaped
from .progress import Fitted, Status, is_judged, round_of, status_of
from .report import write_report
from .schema import WIDTH
from .sqlite import SQLiteStorage
from .storage import ListInfo, Round, Settings, Snapshot, moment_of
from .worklist import Worklist, pandas_for_studies, worklist_of

__all__ = ["Answers"]

MOST_PREDICTED = 50_000_000  # lines of a table
ENDS = ["value", "low", "high"]
RECORD = ["record", "cell", "value", "side", "list", "note", "time", "corrects", "asked", "told_at", "who", "source"]


class Answers:
    """What a study knows; :class:`curplus.Study` asks and tells."""

    def __init__(self, storage: SQLiteStorage) -> None:
        self._storage = storage
        self._last: Fitted | None = None

    @property
    def settings(self) -> Settings:
        """What was given when the study was created, and changed since, by whomever."""
        return self._storage.settings

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open a study that was made before. All that is in it is compared with its digest."""
        return cls(SQLiteStorage(path))

    def close(self) -> None:
        """Close the file. It is opened again where that is needed."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what was kept --------------------------------------------------------------------------------------------

    def worklist(self, number: int) -> Worklist:
        """A list by its number, with those cells that are still pending."""
        return worklist_of(*self._storage.list_parts(check_count(number, name="number")), self.settings.axes)

    def worklists(self) -> Any:
        """All lists as a DataFrame: when and by whom they were asked for, how many cells, how many pending."""
        lists = pandas_for_studies().DataFrame(self._storage.lists(), columns=ListInfo._fields)
        return lists.drop(columns="purpose")

    def records(self) -> Any:
        """All readings as a DataFrame: number, row, column, value, note, time, what it corrects, who told it, when.

        Values are numbers; if some are bounds, these are texts such as ``">10000"``, which :meth:`tell` reads again.
        """
        pandas, (rows, columns) = pandas_for_studies(), self.settings.axes
        frame = pandas.DataFrame(self._storage.record_rows(), columns=RECORD)
        cells = frame.pop("cell").to_numpy(np.int64)
        frame["told_at"] = pandas.to_datetime([moment_of(at) for at in frame["told_at"]], utc=True)
        frame = frame.astype({"list": "Int64", "corrects": "Int64", "asked": bool, "value": float})
        frame.insert(1, "column", columns.labels(cells % WIDTH))
        frame.insert(1, "row", rows.labels(cells // WIDTH))
        if (is_bound := frame["side"] != 0).any():
            texts = map(bound_text, frame["value"][is_bound], frame["side"][is_bound])
            frame["value"] = frame["value"].astype(object)
            frame.loc[is_bound, "value"] = list(texts)
        return frame.drop(columns="side")

    def export(self, folder: str | PathLike[str]) -> None:
        """Write :meth:`records`, :meth:`worklists` and the errors by round as CSV tables into a new folder.

        They are for other programs. To keep a study, copy its file. Numbers come back bit for bit; a text that a
        spreadsheet would take for a formula starts with an apostrophe.
        """
        rounds = pandas_for_studies().DataFrame(self._storage.rounds(), columns=Round._fields)
        _write_tables(Path(folder), {"records": self.records(), "lists": self.worklists(), "rounds": rounds})

    # -- the answer so far ----------------------------------------------------------------------------------------

    def observation(self) -> Observation:
        """All that is known: rows and columns that were asked for whole, gaps where a measurement failed, entries."""
        return observation_of(self._storage.snapshot())

    def at(self, moment: datetime | str) -> Observation:
        """The observation as of a moment, bit for bit.

        Parameters
        ----------
        moment : datetime or str
            Such as ``receipt.moment``, a time of :meth:`worklists` or :meth:`records`, or a text in ISO form; without
            a time zone it is local time.
        """
        try:
            then: Any = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
            then = getattr(then, "to_pydatetime", lambda: then)().astimezone()
        except (ValueError, AttributeError, TypeError, OverflowError):
            raise InvalidArgumentError(
                f"{moment!r} is no moment. Give a datetime, or a text such as '2026-03-01T12:00:00+00:00'."
            ) from None
        return observation_of(self._storage.snapshot(then))

    def fit(self) -> Factorization:
        """The approximation of all that is known (:func:`curplus.approximate`)."""
        return self._fitted().approximation

    def certify(self, *, level: float = 0.95) -> Certificate:
        """How good the approximation is (:func:`curplus.certify`); :meth:`status` remembers it."""
        fitted = self._fitted()
        certificate = certify(fitted.approximation, fitted.observation, level=level)
        self._remember(fitted, certificate)
        return certificate

    def means(
        self, axis: int = 1, *, level: float = 0.95, min_value: float | None = None, max_value: float | None = None
    ) -> MeanEstimates:
        """The mean of every row (axis 1) or column (axis 0), as :func:`curplus.estimate_means` gives it."""
        if self.settings.scale is not None:
            raise InvalidArgumentError(
                "the study fits logarithms (scale='log'), and a mean of them is no mean of the values: its exponential "
                "is their geometric mean. If you want that, use exp of estimate_means(study.fit(), "
                "study.observation()); for means of values, take those of predict()."
            )
        fitted = self._fitted()
        how: dict[str, Any] = {"axis": axis, "level": level, "min_value": min_value, "max_value": max_value}
        return estimate_means(fitted.approximation, fitted.observation, **how)

    def decide(self, best: Best) -> Decision:
        """Which rows or columns are the k best, by all that is known (:func:`curplus.decide`).

        :meth:`status` remembers that they are decided.

        Parameters
        ----------
        best : Best
            What is looked for; ``among`` are names. Those that are retired take no part.
        """
        snapshot = self._storage.snapshot()
        found = decide(compared(snapshot), positioned(best, snapshot.settings.axes))
        self._remember(snapshot, found)
        return found

    def predict(
        self,
        rows: Any = None,
        columns: Any = None,
        *,
        level: float = 0.9,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Any:
        """Values of cells as a DataFrame: row, column, value, low, high, measured (:func:`curplus.predict_interval`).

        Measured values are kept as they are. ``low`` and ``high`` are nan if no interval can be given. The value of a
        bounded cell is beyond its bound, which is one end of its interval; no evidence gives the other.

        Parameters
        ----------
        rows, columns : list of names, optional
            The cells of these rows in these columns; all of those left out.
        level : float, default 0.9
            Confidence of the intervals.
        min_value, max_value : float, optional
            Limits that all values have; predictions and intervals keep to them.
        """
        axes, is_log = self.settings.axes, self.settings.scale == LOG
        i, j = (axis.positions_of(names) for axis, names in zip(axes, (rows, columns), strict=True))
        if len(i) * len(j) > MOST_PREDICTED:
            raise InvalidArgumentError(
                f"{len(i):,} rows and {len(j):,} columns make more than {MOST_PREDICTED:,} lines. Predict some rows at "
                "a time."
            )
        fitted, cells = self._fitted(), (np.repeat(i, len(j)), np.tile(j, len(i)))
        low, high = map(logarithm_of_limit, (min_value, max_value)) if is_log else (min_value, max_value)
        how: dict[str, Any] = {"level": level, "min_value": low, "max_value": high}
        frame = predict_interval(fitted.approximation, fitted.observation, *cells, **how).to_frame()
        if is_log:
            frame[ENDS] = np.exp(frame[ENDS])
        return frame.assign(**{axis.what: axis.labels(at) for axis, at in zip(axes, cells, strict=True)})

    def status(self, *, n_next: int | None = None) -> Status:
        """Spent, left, pending, failed, error by round, and when to stop. Nothing is fitted: it costs nothing.

        Parameters
        ----------
        n_next : int, optional
            For how many more values the error is foretold; left out, as many as the last list had.
        """
        lists, summary = self._storage.lists(), self._storage.summary()
        usual = lists[-1].n_cells if lists else 100
        count = usual if n_next is None else check_count(n_next, name="n_next", at_least=1)
        return status_of(self.settings, summary, self._storage.rounds(), count)

    def report(self, path: str | PathLike[str], *, axis: int = 1, n_best: int = 5, largest: bool = True) -> None:
        """Write a report: one HTML page that needs no network and no other file.

        It shows what was measured, money and error by round, the answer's spectrum, rows and columns that explain it,
        means and the best of them, predictions beside what was measured, and what to measure next. What cannot be said
        yet says why. The error is judged as by :meth:`certify`; nothing is asked for. It needs Jinja2, and for its
        pictures Matplotlib (``pip install 'curplus[report]'``).

        Parameters
        ----------
        path : str or Path
            Where the page is written. An older file is replaced once the new one is complete.
        axis : {1, 0}, default 1
            Whose means are compared: those of rows (1), or of columns (0).
        n_best : int, default 5
            How many of the best are looked for.
        largest : bool, default True
            Whether large means are good, or small ones.
        """
        if axis not in (0, 1):
            raise InvalidArgumentError(f"axis={axis!r} is neither 1, for means of rows, nor 0, for means of columns.")
        n_best = check_count(n_best, name="n_best", at_least=1)
        write_report(self, Path(path), axis=axis, n_best=n_best, largest=largest)

    def __repr__(self) -> str:
        n, m = self.settings.shape
        summary = self._storage.summary()
        return f"<Study of a {n} x {m} matrix: {summary.n_values} values, {summary.n_pending} pending>"

    def _repr_html_(self) -> str:
        n, m = self.settings.shape
        return facts_as_html(f"Study of a {n:,} x {m:,} matrix", self.status().facts[1:])

    # -- helpers --------------------------------------------------------------------------------------------------

    def _fitted(self) -> Fitted:
        """The approximation of all that is known; the last one is kept until more is known."""
        snapshot = self._storage.snapshot()
        state = snapshot.last_tell, snapshot.last_list, snapshot.last_change
        if self._last is None or self._last[:3] != state:
            observation = observation_of(snapshot)
            if not any(observation.counts):
                raise InvalidArgumentError(
                    "nothing was measured yet, so there is nothing to fit. Tell some values first."
                )
            approximation = approximate(observation, snapshot.settings.rank)
            self._last = Fitted(*state, snapshot.n_values, snapshot.spent, observation, approximation)
        return self._last

    def _remember(self, known: Fitted | Snapshot, found: Certificate | Decision) -> None:
        """Keep an error, or that something is decided, once for each table that was told or promised."""
        is_settled, judged = isinstance(found, Certificate) or found.is_decided, round_of(known, found)
        if is_settled and not self._storage.is_read_only and not is_judged(self._storage.rounds(), judged):
            self._storage.add_round(judged)


def _write_tables(folder: Path, tables: dict[str, Any]) -> None:
    """Write tables as CSV files into a new folder, which appears when it is complete."""
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
