"""A study: a matrix that is measured in pieces, by people who come back with a few values at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Self

from .._support.progress import showing
from .._validation import check_amount, check_count
from ..acquisition.goals import MATRIX, MEANS, check_alone, check_goal
from ..acquisition.mean_widths import NarrowMeans
from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..sources.logs.open_logs import log_blocks
from .answers import Answers
from .connection import make_file
from .drafting import Batches, Request, check_wishes, new_list
from .logs import check_same_terms, log_records
from .progress import Status
from .reading_tables import check_filled, check_outliers, check_positive, read_table
from .run import Run
from .schema import WIDTH
from .settings import check_settings, grown
from .storage import Origin, Receipt, Records, user_of
from .worklist import Worklist

__all__ = ["Study"]


class Study(Answers):
    """A matrix that is bought in pieces: ask what to measure, tell what came back, know when to stop.

    Everything is kept in one file, each call completely or not at all, on the disk before the call returns. Several
    people and programs may use the file at the same moment, on one computer: it needs a local disk.

    Make one with :meth:`create`, or open one with :meth:`open`.

    Examples
    --------
    >>> import numpy as np, tempfile, curplus
    >>> folder = tempfile.mkdtemp()
    >>> truth = np.outer(np.arange(1.0, 31.0), np.linspace(1, 2, 20))
    >>> study = curplus.Study.create(f"{folder}/assay.study", rows=30, columns=20, budget=0.5)
    >>> todo = study.ask(0.4)
    >>> len(todo)
    240
    >>> receipt = study.tell(todo.cells.assign(value=truth[todo.cells["row"], todo.cells["column"]]))
    >>> receipt.n_values
    240
    >>> predicted = study.predict()
    >>> bool(np.allclose(predicted["value"], truth.ravel()))
    True
    """

    # -- making and opening ---------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        rows: Any,
        columns: Any,
        budget: float | None = None,
        costs: Any = None,
        noise: float | str | None = None,
        rank: int | None = None,
        records: str = "all",
        scale: str | None = None,
    ) -> Self:
        """Make a new study.

        Parameters
        ----------
        path : str or Path
            Where it is kept: a file that does not exist yet, on a local disk.
        rows, columns : int or list of names
            How many there are, or what they are called, each by a name of its own.
        budget : float, optional
            What may be spent in all: below 1 a share of the matrix, from 1 on a number of values; money with ``costs``.
        costs : mapping or object with row, column and entry, optional
            Prices of a whole row, a whole column and a single cell: numbers, or one for each row and column.
        noise : float or "unknown", optional
            Standard deviation of a reading, if readings are not exact: see :class:`curplus.Observation`.
        rank : int, optional
            Rank of the approximation, at most; left out, it is chosen from the data.
        records : {"all", "latest", "error"}, default "all"
            What counts where a cell was measured more than once: the mean of all readings, weighted by their number;
            the latest; or an error if they differ.
        scale : {None, "log"}, default None
            "log" for positive values that span powers of ten: logarithms are fitted, and :meth:`predict` gives values
            and intervals in units again, all positive. :meth:`observation`, :meth:`fit`, :meth:`certify` and ``noise``
            are those of the natural logarithms, and the mean of repeated readings is the geometric one.
        """
        settings = check_settings(
            rows=rows, columns=columns, budget=budget, costs=costs, noise=noise, rank=rank, records=records, scale=scale
        )
        make_file(Path(path), settings)
        return cls.open(path)

    @classmethod
    def from_logs(
        cls,
        path: str | PathLike[str],
        logs: Any,
        *,
        format: str,
        metric: Any = (),
        filter: Any = (),
        model: str | None = None,
        new_rows: Iterable[str] = (),
        **settings: Any,
    ) -> Self:
        """Make a new study from logs of an evaluation: models are its rows, and questions its columns.

        What is in the logs counts as measured before: it costs nothing.

        Parameters
        ----------
        path : str or Path
            Where it is kept, as for :meth:`create`.
        logs, format, metric, filter, model
            As for :func:`curplus.sources.open_logs`.
        new_rows : list of names, optional
            Models that are in no log yet.
        **settings
            As for :meth:`create`: ``budget``, ``costs``, ``noise``, ``rank`` and ``records``.
        """
        blocks = tuple(log_blocks(logs, format=format, metric=metric, filter=filter, model=model))
        models = (name for block in blocks for name in block.models[:1])
        questions = dict.fromkeys(name for block in blocks for name in block.questions)
        rows = list(dict.fromkeys((*models, *new_rows)))
        study = cls.create(path, rows=rows, columns=list(questions), **settings)
        origin = Origin(f"logs of {format}", user_of(None), history=True)
        study._keep(log_records(blocks, *study.settings.axes), origin, once=True)
        return study

    # -- asking and telling ---------------------------------------------------------------------------------------

    def ask(
        self,
        budget: float,
        *,
        required: Any = None,
        forbidden: Any = None,
        whole: bool = True,
        goal: str | Best | NarrowMeans = MATRIX,
        width: float | None = None,
        batch: int | None = None,
        unit: str = "cell",
        batch_price: float | None = None,
        timeout: float | timedelta | None = None,
        rng: int = 0,
        who: str | None = None,
    ) -> Worklist:
        """What to measure next.

        The first list needs no data: some rows and columns as a whole, and single cells, drawn at random. Later ones
        follow from what is known. What is on a list is pending: it is not asked for again until it was told, cancelled,
        or its time is over. Several lists may be out at once.

        Parameters
        ----------
        budget : float
            For this list alone: below 1 a share of the matrix, from 1 on a number of values; money with costs.
        required, forbidden : dict, optional
            What the list must have, or must not: names of ``rows`` and ``columns``, and ``cells`` as pairs of a row and
            a column. Cells drawn at random then represent those that are not forbidden on any list, and so does all
            that is said of the error, of means and of single values.
        whole : bool, default True
            Whether rows and columns may be asked for whole. Without them all is spent on cells drawn at random, which
            represent every row alike: for :meth:`means`.
        goal, width : {"matrix", "means"} or Best, default "matrix", and float, optional
            What it is for: an approximation of the whole matrix; means (``whole=False``), where ``width`` makes it an
            error to ask for more once all intervals are as narrow; or the k best rows or columns. For
            :class:`curplus.Best` the list has the rows that are left, in columns drawn uniformly, for the whole budget:
            rows leave between lists only, so ask for little at a time. :meth:`decide` says what is decided.
        batch : int, optional
            How many cells are measured together, such as 96 on a plate: the list has a multiple of it, unless fewer
            are left.
        unit : {"cell", "row", "column"}, default "cell"
            What a batch is made of: with "row" it is so many whole rows, and the list has no single cells.
        batch_price : float, optional
            What a batch costs, in the unit of the budget. Left out, as much as its cells, rows or columns.
        timeout : float or timedelta, optional
            Seconds after which what did not come back may be asked for again.
        rng : int, default 0
            The list follows from this seed and from what is known.
        who : str, optional
            Who asks; left out, the user of the computer.
        """
        best = goal if isinstance(goal, Best) else None
        if best is not None:
            check_alone(None, required=required, batch=batch)
        aim = check_goal(goal, width) if best is not None or goal != MEANS or width is not None else None
        if isinstance(aim, NarrowMeans) and self._storage.summary().n_values:
            widest = aim.widest(self.means(aim.axis, level=aim.level))
            if widest <= aim.width:
                raise InvalidArgumentError(f"all intervals are at most {aim.width:g} wide: the goal is reached. Stop.")
        batches = Batches.of(batch, unit, batch_price, self.settings)
        request = Request(
            self._amount(budget),
            check_count(rng, name="rng"),
            required,
            forbidden,
            whole and goal == MATRIX,
            batches=batches,
            best=best,
        )
        return new_list(self, request, who=who, timeout=timeout)

    def tell(
        self,
        table: Any,
        *,
        format: str | None = None,
        history: bool = False,
        design: str | None = None,
        force: bool = False,
        who: str | None = None,
        **how: Any,
    ) -> Receipt:
        """Keep what was measured.

        Parameters
        ----------
        table : DataFrame, or path of a text, Parquet, Arrow or Excel file
            Long, with the columns ``row``, ``column``, ``value`` and perhaps ``note``, ``time``, ``list`` and
            ``corrects`` (the number of the record that is wrong); wide, with a row for each row; or a work list that
            was filled in. An empty value is a failed measurement; in a wide table only if the cell is pending.
            ``>10000`` and ``<0.5`` are bounds: fitted as bounds, kept and paid like values, and never evidence. With
            ``format``, files and folders of logs.
        format : {"lm-eval", "inspect", "helm"}, optional
            The harness whose logs these are, see :func:`curplus.sources.open_logs`. An answer in a log is known by its
            run: told again, it is not kept twice.
        history : bool, default False
            Whether this was measured before the study: it costs nothing, and empty cells of a wide table are gaps.
        design : {None, "uniform"}, default None
            Your promise that these cells were chosen at random, each as likely as any other of its list (or of the
            matrix, if no list has them): they are then evidence for the error. Without it, cells drawn for a list are
            evidence once all of them came back, or those that came back are the first ones of the list; cells that
            nobody asked for are none. Of a work list a promise can be given later: tell it again.
        force : bool, default False
            Keep values a thousand times as large as usual, and a list of which every measurement failed.
        who : str, optional
            Who tells; left out, the user of the computer.
        **how
            How a file is written, where that is not found out: ``sep``, ``decimal``, ``encoding``, ``sheet``,
            ``skip_rows`` and ``na_values``, as for :func:`curplus.open_source`. Of logs: ``metric``, ``filter`` and
            ``model``.

        Returns
        -------
        Receipt
            What was kept. A line of a work list is known by its list, row and column: told again with the same value,
            it is the same reading, and not kept twice. A line without the number of a list is always a new reading.

        Raises
        ------
        InvalidArgumentError
            If anything is wrong with the table. Nothing of it was kept.
        """
        if design not in (None, "uniform"):
            raise InvalidArgumentError(
                f"design={design!r} is no promise. Use 'uniform' if the cells were drawn uniformly, or leave it out."
            )
        axes = self.settings.axes
        if format is not None:
            records, source = log_records(log_blocks(table, format=format, **how), *axes), f"logs of {format}"
            check_same_terms(records, self._storage.log_notes(), axes[1])
        else:
            records, source = read_table(table, *axes, None if history else self._storage.pending, **how)
            if not force:
                check_filled(records)
        origin = Origin(source, user_of(who), bool(history), design or "")
        return self._keep(records, origin, check=not force, once=format is not None)

    def _keep(self, records: Records, origin: Origin, *, check: bool = False, **how: bool) -> Receipt:
        axes, is_log = self.settings.axes, self.settings.scale is not None
        if is_log:
            check_positive(records, *axes)
        refuse = (lambda fresh, recent: check_outliers(fresh, recent, *axes, is_log=is_log)) if check else None
        return self._storage.add_records(records, origin, check=refuse, **how)

    def cancel(self, worklist: Worklist | int, cells: Any = None) -> int:
        """Take a list back, or some of its cells; the number of cells that were pending.

        Parameters
        ----------
        worklist : Worklist or int
            The list, or its number.
        cells : DataFrame or list of pairs, optional
            Which cells: row and column, by name. Left out, all that are pending.
        """
        number = worklist.id if isinstance(worklist, Worklist) else check_count(worklist, name="worklist")
        if cells is None:
            return self._storage.cancel(number, None)
        i, j = check_wishes({"cells": cells}, self.settings.axes, name="cells").cells
        return self._storage.cancel(number, i * WIDTH + j)

    # -- changing -------------------------------------------------------------------------------------------------

    def add_rows(self, rows: Any, *, price: Any = None, who: str | None = None) -> None:
        """Add rows, such as new compounds.

        What is known stays. Cells that were drawn before represent the smaller matrix: they are fitted, and are no
        evidence of the error any more, so ask for new ones before you judge it.

        Parameters
        ----------
        rows : list of names, or int
            Their names; how many, if the rows of the study are numbers.
        price : float or list, optional
            What they cost as a whole, if each row has a price of its own.
        who : str, optional
            Who adds them; left out, the user of the computer.
        """
        self._storage.change(lambda x: grown(x, x.rows, rows, price), user_of(who))

    def add_columns(self, columns: Any, *, price: Any = None, who: str | None = None) -> None:
        """Add columns; see :meth:`add_rows`."""
        self._storage.change(lambda x: grown(x, x.columns, columns, price), user_of(who))

    def rename_row(self, old: Any, new: Any, *, who: str | None = None) -> None:
        """Give a row another name; the old one is still understood in tables, unless another row takes it."""
        self._storage.change(lambda x: x.with_axis(x.rows.renamed(old, new)), user_of(who))

    def rename_column(self, old: Any, new: Any, *, who: str | None = None) -> None:
        """Give a column another name; see :meth:`rename_row`."""
        self._storage.change(lambda x: x.with_axis(x.columns.renamed(old, new)), user_of(who))

    def retire_row(self, row: Any, *, who: str | None = None) -> None:
        """Ask no more for a row, or several: what is pending of it is taken back, and what is known of it stays."""
        self._storage.change(lambda x: x.with_axis(x.rows.without(row)), user_of(who))

    def retire_column(self, column: Any, *, who: str | None = None) -> None:
        """Ask no more for a column, or several; see :meth:`retire_row`."""
        self._storage.change(lambda x: x.with_axis(x.columns.without(column)), user_of(who))

    # -- all at once ----------------------------------------------------------------------------------------------

    def run(
        self,
        function: Callable[[Any, Any], float | None],
        *,
        budget: float | None = None,
        tol: float | None = None,
        n_workers: int = 4,
        n_retries: int = 3,
        wait: float = 0.5,
        n_rounds: int = 5,
        on_round: Callable[[Status], Any] | None = None,
        progress: bool = False,
    ) -> Status:
        """Ask, call a function for each cell, and keep its values one by one, until the budget or the goal is reached.

        After a kill, call it again: lists that were out are finished first.

        Parameters
        ----------
        function : callable
            ``function(row, column)``, by name, gives the value; None or nan if it could not be measured. It is called
            from several threads at once.
        budget : float, optional
            What the study should have spent in the end, all that was spent before included. Left out, the budget of
            the study.
        tol : float, optional
            Stop when the relative error is at most this: the upper end of its interval, so that an error without an
            interval does not stop the run.
        n_workers : int, default 4
            How many calls at once, at most.
        n_retries : int, default 3
            How often a call that raises is repeated before the measurement counts as failed.
        wait : float, default 0.5
            Seconds before the first repetition; each further one waits twice as long.
        n_rounds : int, default 5
            In how many lists the budget is spent.
        on_round : callable, optional
            Called with the status after each list.
        progress : bool, default False
            Whether to show on standard error how far it has come, if it takes more than a second.

        Raises
        ------
        SourceError
            If ten calls in a row fail: the function is broken, and no more money is spent. What failed stays pending.
        """
        total = None if budget is None else self._amount(budget)
        with showing("measuring", wanted=progress) as tell:
            return Run(self, function, total, tol, n_workers, n_retries, wait, n_rounds, on_round, tell).go()

    def _amount(self, budget: float) -> float:
        return check_amount(budget, self.settings.shape, is_money=self.settings.costs is not None)
