// Sorting and filtering of tables; pages are complete without it.
(() => {
  "use strict";

  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.sort ?? cell.textContent.trim();
    const number = text === "" ? NaN : Number(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b);

  const sortBy = (table, column, header) => {
    const up = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)) * (up ? 1 : -1));
    body.append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortBy(table, column, header));
      header.append(button);
    });
  }

  // Groups of one table add up: a row shows if it has the chosen value of every group.
  const filter = (id) => {
    const wanted = [...document.querySelectorAll(`[data-filter-for="${id}"]`)].map((group) =>
      [group.dataset.filterBy, group.querySelector('[aria-pressed="true"]').dataset.value]);
    for (const row of document.querySelectorAll(`#${id} tbody tr`)) {
      row.hidden = wanted.some(([name, value]) => value !== "" && row.dataset[name] !== value);
    }
  };

  for (const group of document.querySelectorAll("[data-filter-for]")) {
    group.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (!chosen) return;
      for (const button of group.children) button.setAttribute("aria-pressed", String(button === chosen));
      filter(group.dataset.filterFor);
    });
  }

  for (const code of document.querySelectorAll(".command code")) {
    if (!navigator.clipboard) break;
    code.tabIndex = 0;
    code.title = "click to copy";
    const copy = () => navigator.clipboard.writeText(code.textContent).then(() => {
      code.classList.add("copied");
      setTimeout(() => code.classList.remove("copied"), 900);
    });
    code.addEventListener("click", copy);
    code.addEventListener("keydown", (event) => event.key === "Enter" && copy());
  }
})();
