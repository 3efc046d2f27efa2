"use strict";
// A click on the head of a column sorts its table: by numbers where there are some, and back with the next click.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, place) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (line) => {
      const cell = line.cells[place];
      return head.classList.contains("number") ? parseFloat(cell.dataset.sort) : cell.textContent;
    };
    const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    const lines = Array.from(table.tBodies[0].rows, (line) => [key(line), line]);
    const known = lines.filter(([k]) => !Number.isNaN(k)).sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
    const unknown = lines.filter(([k]) => Number.isNaN(k));
    table.tBodies[0].append(...known.concat(unknown).map(([, line]) => line));
  }));
}
