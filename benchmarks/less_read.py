"""Error against the share that is read, on the two matrices that come with the package: the picture of the README.

Run: python benchmarks/less_read.py [--seeds 2] [--only llm_answers oboe_errors] [--out docs/_static/less_read.csv].
"acquire" chooses rows and columns, "uniform" draws entries, both with approximate; "additive" has the entries of
"uniform", and fits offsets of rows and columns. Errors are root mean squares at values that were not read, relative to
that of the whole matrix.
"""

import argparse
import csv
from pathlib import Path

from common import versions  # isort: skip

import curplus

WAYS = {
    ("auto", "approximate"): "acquire",
    ("entries", "approximate"): "uniform",
    ("entries", "additive"): "additive",
}
BUDGETS = (0.03, 0.06, 0.1, 0.2, 0.4)


def lines_for(name, seeds):
    """A line for each way and budget."""
    matrix = curplus.datasets.load(name).matrix
    result = curplus.backtest(matrix, budgets=BUDGETS, strategies=["auto", "entries"], seeds=seeds)
    for row in result.table():
        way = WAYS.get((row["strategy"], row["method"]))
        if way is not None:
            yield {
                "matrix": name,
                "way": way,
                "budget": row["budget"],
                "error": round(row["error"], 5),
                "standard_error": round(row["standard_error"], 5),
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["llm_answers", "oboe_errors"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print("#", versions(), f"{options.seeds} seeds")
    lines = [line for name in options.only for line in lines_for(name, options.seeds)]
    for line in lines:
        print(*line.values())
    if options.out is not None:
        with options.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, lines[0])
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
