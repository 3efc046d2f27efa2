"""Make the pictures of the guide's page on screens: ``python docs/make_screen_pictures.py``.

The code of the page is run as it stands there, until the report is written. A headless Chromium photographs what
people see of it: the work list, the terminal, and the report on a desk and on a phone.
"""

import base64
import doctest
import html
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image

DOCS = Path(__file__).parent
PAGE = DOCS / "guide" / "screen.rst"
DESK, PHONE = (1280, 1685), (390, 844)
STYLE = """
body { margin: 0; padding: 14px; background: #fff; font: 14px "DejaVu Sans", sans-serif; width: max-content; }
table { border-collapse: collapse; display: inline-table; margin-right: 26px; }
caption { text-align: left; padding-bottom: 6px; color: #333; }
th, td { border: 1px solid #c8ccd0; padding: 3px 9px; height: 17px; min-width: 34px; text-align: left; }
th { background: #eef0f2; color: #555; font-weight: normal; text-align: center; }
td.number { text-align: right; }
pre { margin: -14px; padding: 16px 20px; background: #1b1f24; color: #e6e6e6; font-family: "DejaVu Sans Mono"; }
pre b { color: #7ee787; font-weight: normal; }
"""


def run_page():
    """The folder in which the page has worked."""
    names = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        exec(compile(example.source, str(PAGE), "single"), names)
        if "folder" in names and (names["folder"] / "screen.html").exists():
            return names["folder"]
    raise RuntimeError(f"{PAGE} writes no screen.html")


def page_of(body):
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{body}"


def lists(asked, filled):
    """The same lines of a list and of what came back, one of which failed."""
    failed = pd.read_excel(filled)["value"].isna().idxmax()
    lines = [0, *range(failed - 5, failed + 8)]  # the first has the names of the columns
    return sheet(asked, lines) + sheet(filled, lines)


def sheet(path, which):
    """Lines of a workbook, as spreadsheets show them."""
    table = pd.read_excel(path, header=None, dtype=object).iloc[which].fillna("")
    letters = "".join(f"<th>{'ABCDEFG'[k]}</th>" for k in range(table.shape[1]))
    lines = "".join(f"<tr><th>{k + 1}</th>{''.join(map(cell, line))}</tr>" for k, *line in table.itertuples())
    return f"<table><caption>{html.escape(path.name)}</caption><tr><th></th>{letters}</tr>{lines}</table>"


def cell(value):
    if isinstance(value, float):
        return f"<td class=number>{value:.3f}</td>"
    kind = " class=number" if isinstance(value, int) else ""
    return f"<td{kind}>{html.escape(str(value))}</td>"


def terminal(command, folder):
    """A command of ours and what it prints."""
    words = [sys.executable, "-m", *command.split()]
    environment = {**os.environ, "COLUMNS": "78"}
    done = subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    said = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return f"<pre><b>$</b> {html.escape(command)}\n{html.escape(said)}</pre>"


def photograph(chromium, page, size, part="body"):
    """A page from the beginning of a part to its end, as an image; no more of it than fits a window of this size."""
    chromium.open(page, width=size[0], height=size[1])
    chromium.call("Emulation.setScrollbarsHidden", hidden=True)
    box = f"document.querySelector({part!r}).getBoundingClientRect()"
    top, right, bottom = chromium.run(
        f"(box => [box.top + scrollY, box.right + box.left, box.bottom + scrollY])({box})"
    )
    clip = {"x": 0, "y": top, "width": right, "height": min(bottom - top, size[1]), "scale": 1}
    data = chromium.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def side_by_side(images, gap=30):
    width = sum(image.width for image in images) + gap * (len(images) - 1)
    both = Image.new("RGB", (width, max(image.height for image in images)), "white")
    left = 0
    for image in images:
        both.paste(image, (left, 0))
        left += image.width + gap
    return both


def save(image, name):
    path = DOCS / "_static" / f"screen_{name}.png"
    image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {image.width} x {image.height}, {path.stat().st_size / 1000:.0f} kB")


def main():
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from browser import browser

    folder = run_page()
    made = {
        "list": lists(folder / "list 1.xlsx", folder / "list 1 back.xlsx"),
        "status": terminal("curplus study status screen.study", folder),
    }
    with tempfile.TemporaryDirectory() as profile, browser(profile) as chromium:
        for name, body in made.items():
            (folder / f"{name}.html").write_text(page_of(body), encoding="utf-8")
            save(photograph(chromium, folder / f"{name}.html", DESK), name)
        report = folder / "screen.html"
        save(photograph(chromium, report, DESK), "report")
        save(photograph(chromium, report, DESK, "#means"), "means")
        save(side_by_side([photograph(chromium, report, PHONE, part) for part in ("body", "#means")]), "phone")


if __name__ == "__main__":
    main()
