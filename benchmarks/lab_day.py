"""A laboratory's day on the command line: concentrations with bounds, units and failures are filled in logarithms.

Run: CURPLUS_DATA=DIR python benchmarks/lab_day.py [--seeds 1] [--rows 400]

Sensitivities of cancer cell lines to drugs (GDSC, inhibitory concentrations, base-2 logarithms in the file) are written
as a laboratory has them: 70 % of the known values are blank, the largest third of the others is ``>c``, three hundred
blanks are ``ND``, the second line has units. One table is a text with semicolons and decimal commas, the other a
workbook. ``curplus complete --scale log`` fills both. Beside it stand the same tables with bounds left empty, with c in
their place, and with the values that the bounds hide, which no laboratory has.

Errors are root mean squares of natural logarithms at blanks whose value is known to us: those below c, and all of
them. The former are chosen by their value. A fit that knows nothing of large values is good at them for that reason
alone, and "hidden values known" shows by how much: it has every value that was measured.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import rms, versions  # isort: skip

import numpy as np
import openpyxl

UNKNOWN, ND = "", 300


def written(truth, measured, bounded, bound, failed):
    """The cells of the table as texts, with a decimal point."""
    cells = np.where(measured, np.char.mod("%.6g", np.where(measured, truth, 0.0)), UNKNOWN)
    cells = np.where(bounded, bound, cells)
    return np.where(failed, "ND", cells)


def save_text(path, cells, columns):
    """Semicolons, decimal commas and a line of units."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(["cell line", *columns])
        writer.writerow(["unit", *["uM"] * len(columns)])
        writer.writerows([f"line {k}", *(cell.replace(".", ",") for cell in row)] for k, row in enumerate(cells))


def save_workbook(path, cells, columns):
    """Numbers as numbers, all else as text."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("assay")
    sheet.append(["cell line", *columns])
    sheet.append(["unit", *["uM"] * len(columns)])
    for k, row in enumerate(cells):
        sheet.append([f"line {k}", *(_number(cell) for cell in row)])
    book.save(path)


def _number(cell):
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


def completed(path, out):
    """The filled table, by the command line alone, and what it printed."""
    command = [sys.executable, "-m", "curplus", "complete", path, "--scale", "log", "--skip-rows", "2-2"]
    command += ["--na-values", "ND", "--out", out, "--json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return np.load(out), json.loads(done.stdout)


def means(table):
    """Row means plus column means less the mean, of what is known."""
    known = ~np.isnan(table)
    whole = np.nansum(table) / known.sum()
    sides = (np.nansum(table, axis) / np.maximum(known.sum(axis), 1) for axis in (1, 0))
    rows, columns = (np.where(known.any(axis), x, whole) for axis, x in zip((1, 0), sides, strict=True))
    return rows[:, None] + columns - whole


def day(logs, seed, folder):
    """Errors of each way: at blanks below the bound, and at all blanks."""
    rng = np.random.default_rng(seed)
    truth, known = np.exp(logs), ~np.isnan(logs)
    kept = known & (rng.random(logs.shape) > 0.7)
    limit = float(np.quantile(truth[kept], 2 / 3))
    bounded, blank = kept & (truth > limit), known & ~kept
    failed = np.zeros(logs.shape, dtype=bool)
    failed.flat[rng.choice(np.flatnonzero(blank), ND, replace=False)] = True
    judged = {"below c": blank & (truth < limit), "all blanks": blank}
    columns = [f"drug {k}" for k in range(logs.shape[1])]
    ways = {
        "fitted as bounds": (kept & ~bounded, bounded, f">{limit:.6g}"),
        "left empty": (kept & ~bounded, bounded, UNKNOWN),
        "c written": (kept & ~bounded, bounded, f"{limit:.6g}"),
        "hidden values known": (kept, np.zeros_like(kept), UNKNOWN),
    }
    errors = {}
    for name, (measured, bounds, text) in ways.items():
        cells = written(truth, measured, bounds, text, failed)
        save_text(folder / "lab.csv", cells, columns)
        filled, facts = completed(folder / "lab.csv", folder / "filled.npy")
        print(f"  {name}: {facts['n_filled']:,} gaps filled, {facts.get('n_bounds') or 0:,} bounds", flush=True)
        assert not (filled <= 0).any(), "a filled value is not positive"
        assert np.allclose(filled[measured], truth[measured], rtol=1e-5), "a measured value was changed"
        errors[name] = [rms_of_known((np.log(filled) - logs)[at]) for at in judged.values()]
        if name == "fitted as bounds":
            assert (filled[bounds] >= float(text[1:]) * (1 - 1e-12)).all()
            save_workbook(folder / "lab.xlsx", cells, columns)
            again, _ = completed(folder / "lab.xlsx", folder / "again.npy")
            assert np.allclose(filled, again, rtol=1e-6), "the workbook is filled in another way"
    for name, table in (
        ("row and column means, left empty", np.where(kept & ~bounded, logs, np.nan)),
        ("row and column means, c written", np.where(kept, np.minimum(logs, np.log(limit)), np.nan)),
    ):
        errors[name] = [rms_of_known((means(table) - logs)[at]) for at in judged.values()]
    return errors


def rms_of_known(errors):
    """Root mean square; a column of which nothing is known stays empty."""
    return rms(errors[~np.isnan(errors)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=None, help="how many cell lines, drawn at random; all if left out")
    parser.add_argument("--out", type=Path, default=None, help="a table of the errors, as CSV")
    asked = parser.parse_args()
    print("#", versions(), flush=True)
    with np.load(Path(os.environ["CURPLUS_DATA"]) / "gdsc_log2ic50.npz", allow_pickle=False) as stored:
        logs = stored["X"].astype(float) * np.log(2)
    found = []
    for seed in range(asked.seeds):
        some = np.random.default_rng([seed, 1]).permutation(len(logs))[: asked.rows]
        with tempfile.TemporaryDirectory() as folder:
            found.append(day(logs[some], seed, Path(folder)))
    print(f"{'':34}{'below c':>10}{'all blanks':>12}")
    if asked.out is not None:
        rows = [[name, *(f"{x:.3f}" for x in np.mean([f[name] for f in found], 0))] for name in found[0]]
        with asked.out.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows([["bounds are", "below c", "all blanks"], *rows])
    for name in found[0]:
        print(
            f"{name:34}"
            + "".join(f"{x:{w}.3f}" for x, w in zip(np.mean([f[name] for f in found], 0), (10, 12), strict=True))
        )


if __name__ == "__main__":
    main()
