// Sorting and filtering of tables, and the menu on narrow windows; pages are complete without it.
(() => {
  "use strict";

  const FILTER_FROM_ROWS = 10; // shorter tables are read at a glance

  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.sort ?? cell.textContent.trim();
    const number = text === "" ? NaN : Number(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };

  // Numbers before words, nothing at the end whichever way a column is sorted.
  const compare = (a, b, way) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    if (typeof a === "number" && typeof b === "number") return (a - b) * way;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true }) * way;
  };

  const sortBy = (table, column, header) => {
    const way = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => compare(key(a, column), key(b, column), way)));
  };

  // All filters of a table add up: a row shows if it has the chosen value of each and the text of its box.
  const refresh = (table) => {
    const wanted = [...document.querySelectorAll(`[data-filter-for="${table.id}"]`)].map((one) => [
      one.dataset.filterBy,
      one.matches("select") ? one.value : one.querySelector('[aria-pressed="true"]').dataset.value,
    ]);
    const words = (table.box?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    let seen = 0;
    for (const row of table.tBodies[0].rows) {
      const text = words.length ? row.textContent.toLowerCase() : "";
      row.hidden = wanted.some(([name, value]) => value !== "" && row.dataset[name] !== value) || words.some((word) => !text.includes(word));
      seen += !row.hidden;
    }
    if (table.count) table.count.textContent = `${seen} of ${table.tBodies[0].rows.length} rows`;
  };

  const addBox = (table) => {
    const [bar, label, box, count] = ["div", "label", "input", "span"].map((tag) => document.createElement(tag));
    bar.className = "table-filter";
    box.type = "search";
    box.placeholder = "words in a row";
    count.setAttribute("role", "status");
    label.append("Filter ", box);
    bar.append(label, count);
    (table.closest(".scroll") ?? table).before(bar);
    Object.assign(table, { box, count });
    box.addEventListener("input", () => refresh(table));
    refresh(table);
  };

  let unnamed = 0;
  for (const table of document.querySelectorAll("table.sortable")) {
    table.id ||= `table-${(unnamed += 1)}`;
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortBy(table, column, header));
      header.append(button);
    });
    if (table.tBodies[0].rows.length >= FILTER_FROM_ROWS) addBox(table);
  }

  const press = (group, chosen) => {
    for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
  };

  const asked = new URLSearchParams(location.search); // claims.html?verdict=REPRODUCED
  for (const one of document.querySelectorAll("[data-filter-for]")) {
    const table = document.getElementById(one.dataset.filterFor);
    const value = asked.get(one.dataset.filterBy);
    if (one.matches("select")) {
      if (value && [...one.options].some((option) => option.value === value)) one.value = value;
      one.addEventListener("change", () => refresh(table));
    } else {
      const start = [...one.children].find((button) => button.dataset.value === value);
      if (value && start) press(one, start);
      one.addEventListener("click", (event) => {
        const chosen = event.target.closest("button");
        if (!chosen) return;
        press(one, chosen);
        refresh(table);
      });
    }
    refresh(table);
  }

  // A link into a closed part opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target && target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  const menu = document.querySelector(".menu");
  if (menu) {
    const side = document.getElementById("side");
    menu.hidden = false;
    side.classList.add("folded");
    menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(!side.classList.toggle("folded"))));
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
