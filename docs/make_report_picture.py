"""Make the picture of the guide's page on reports: ``python docs/make_report_picture.py FOLDER``.

FOLDER holds ``llm_items.npz``: the answers (right or wrong) of 448 language models to the 541 questions of IFEval. A
study buys a tenth of them in three lists; 3 % of the answers never come back. Chromium photographs its report.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import curplus

PICTURE = Path(__file__).parent / "_static" / "report.png"
SIZE = (1280, 1560)


def make_report(folder, path):
    """Buy a tenth of the answers in three lists, and write the report."""
    truth = np.load(folder / "llm_items.npz")["ifeval"].astype(float)
    n, m = truth.shape
    models, questions = [f"model {k:03d}" for k in range(n)], [f"question {k:03d}" for k in range(m)]
    rng = np.random.default_rng(0)
    with curplus.Study.create(path.with_suffix(".study"), rows=models, columns=questions, budget=0.12) as study:
        for share in (0.04, 0.03, 0.03):
            todo = study.ask(share, who="a guide").cells
            values = truth[todo["row"].str[-3:].astype(int), todo["column"].str[-3:].astype(int)]
            values[rng.random(len(values)) < 0.03] = np.nan
            study.tell(todo.assign(value=values))
            study.certify()
        print(study.status())
        study.report(path)


def photograph(page, picture):
    """The upper part of the page, in few colours."""
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    size = "--window-size={},{}".format(*SIZE)
    subprocess.run(
        ["chromium", *flags, size, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True
    )
    with Image.open(picture) as image:
        small = image.convert("RGB").resize((960, round(960 * SIZE[1] / SIZE[0])), Image.Resampling.LANCZOS)
        small.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(picture, optimize=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "answers of language models.html"
        make_report(Path(sys.argv[1]), page)
        photograph(page, PICTURE)


if __name__ == "__main__":
    main()
