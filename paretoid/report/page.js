
"use strict";
// A click on a column's button sorts its table: rising, then falling. Cells without a value
// stay last. Numbers before texts; ties keep their order.
function compare(a, b) {
  const x = Number(a), y = Number(b);
  if (Number.isNaN(x) || Number.isNaN(y)) { return a.localeCompare(b, "en", { numeric: true }); }
  return x === y ? 0 : x < y ? -1 : 1;
}
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    const falling = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) { other.setAttribute("aria-sort", "none"); }
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (row) => row.cells[head.cellIndex].dataset.sort;
    const rows = Array.from(body.rows).sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === "" || y === "") { return (x === "") - (y === ""); }
      return falling ? compare(y, x) : compare(x, y);
    });
    body.append(...rows);
  });
}
