"""What a reader sees of a page or of a figure, and what of it is a defect; a browser measures the boxes."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

#: defects of the page that is open, as lists of words; folded parts are opened first
PAGE_FAULTS = """(() => {
  const found = [], desk = document.documentElement.clientWidth >= 1280;
  const say = (kind, one) => found.push(`${kind}: ${(one.textContent ?? one).trim().slice(0, 60)}`);
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  for (const one of document.querySelectorAll("main *")) {
    const hides = ["hidden", "clip"].includes(getComputedStyle(one).overflowX);
    if (hides && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1) say("clipped", one);
  }
  for (const table of document.querySelectorAll("table")) {
    const head = [...(table.tHead?.rows[0]?.cells ?? [])].filter((cell) => cell.offsetWidth > 0);
    if (head.length > 8) say(`${head.length} columns`, table.tHead);
    if (desk && table.offsetWidth > table.parentElement.clientWidth + 1) say("wide table", table);
  }
  for (const image of document.querySelectorAll("main img"))
    if (image.offsetWidth > 720) say("wide figure", image.src);
  const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const text = words.currentNode.textContent;
    if (words.currentNode.parentElement.closest("code, pre, script, style, .hash")) continue;
    if (text.includes("`")) say("backtick", text);
    if (/(^|[\\s(=])\\d+(\\.\\d+)?e[-+]\\d+/.test(text)) say("exponent", text);
    if (/\\d{5,}(\\.\\d+)?%/.test(text.replace(/\\.\\d+/g, ""))) say("percent", text);
    if (/^\\s+[.,;]/.test(text)) say("space before", words.currentNode.parentElement);
  }
  return found;
})()"""

#: defects of the figures of :func:`sheet`
FIGURE_FAULTS = """(() => {
  const found = [];
  for (const box of document.querySelectorAll("[data-figure]")) {
    const say = (kind, text) => found.push(`${box.dataset.figure}: ${kind}: ${text}`);
    const svg = box.querySelector("svg"), frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim());
    const boxes = texts.map((one) => one.getBoundingClientRect());
    const words = texts.map((one) => one.textContent.replace(/\\s+/g, "").slice(0, 60));
    boxes.forEach((one, i) => {
      const inside = one.left >= frame.left - 1 && one.right <= frame.right + 1
        && one.top >= frame.top - 1 && one.bottom <= frame.bottom + 1;
      if (!inside) say("outside", words[i]);
      if (words[i].includes("`")) say("backtick", words[i]);
    });
    const ofTicks = [...svg.querySelectorAll('g[id^="xtick_"] text, g[id^="ytick_"] text')];
    const level = (one) => !/rotate\\((?!-?0 )/.test(one.getAttribute("transform") ?? "");
    const ticks = ofTicks.filter(level).map((one) => texts.indexOf(one));
    for (const i of ticks) for (const k of ticks) {
      if (i < 0 || k <= i) continue;
      const wide = Math.min(boxes[i].right, boxes[k].right) - Math.max(boxes[i].left, boxes[k].left);
      const high = Math.min(boxes[i].bottom, boxes[k].bottom) - Math.max(boxes[i].top, boxes[k].top);
      if (wide > 2 && high > 4) say("ticks overlap", `${words[k]} ${words[i]}`);
    }
    // An axis without a label is one of several with the same ticks, of which one has a label.
    const axes = [...svg.querySelectorAll('g[id^="matplotlib.axis_"]')].map((axis) => {
      const parts = [...axis.children], ticks = parts.filter((part) => /^[xy]tick_/.test(part.id));
      const texts = ticks.map((tick) => tick.querySelector("text")?.textContent.trim() ?? "").filter(Boolean);
      return {
        direction: ticks[0]?.id[0], ticks: texts.join(" "),
        numbers: texts.length > 0 && texts.every((text) => /^[\\u2212-]?[\\d.,]+[%kMG]?$/.test(text)),
        labelled: parts.some((part) => part.id.startsWith("text_")),
      };
    });
    const same = (one, other) => one.direction === other.direction && one.ticks === other.ticks;
    for (const axis of axes) {
      const labelled = axes.some((other) => other.labelled && same(axis, other));
      if (axis.numbers && !labelled) say("no label", axis.ticks);
    }
  }
  return found;
})()"""

#: words of a title that only data can have: a size of memory that is not that of a page
_SIZE = re.compile(r"\b(?!4KB|2MB|1GB)\d+ ?[KMGT]B\b")


def sheet(figures: list[Path], out: Path) -> Path:
    """A page with all these SVG files in it, each as wide as a page shows it."""
    parts = []
    for path in figures:
        text = path.read_text()
        parts.append(f'<div data-figure="{path.stem}">{text[text.index("<svg") :]}</div>')
    out.write_text(
        "<!doctype html><meta charset=utf-8><style>svg{width:720px;height:auto}</style>" + "".join(parts)
    )
    return out


def title_of(svg: str) -> str:
    """What a figure says in bold at its top."""
    return " ".join(re.findall(r'<text style="font[^"]*\b700\b[^"]*\b11px[^>]*>([^<]*)</text>', svg))


def names_in(title: str, names: set[str]) -> set[str]:
    """Sizes of memory in a title, and those of the names."""
    own = {name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", title, re.I)}
    return own | set(_SIZE.findall(title))


def workloads_of(tree: Path) -> set[str]:
    """Names of workloads in any table of a results tree."""
    found: set[str] = set()
    for path in tree.rglob("*.csv"):
        with path.open() as stream:
            if "workload" in stream.readline().strip().split(","):
                found |= set(pd.read_csv(path, dtype=str)["workload"].dropna())
    return found


def renamed(tree: Path, out: Path, names: dict[str, str]) -> Path:
    """A copy of a results tree with other names of workloads, in its tables and in the names of its files."""
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])({words})(?![\w-])")

    def other(text: str) -> str:
        return pattern.sub(lambda name: names[name[1]], text)

    for path in tree.rglob("*"):
        if path.is_file() and path.suffix in (".csv", ".json", ".yaml", ".txt", ".note"):
            place = out / Path(*(other(part) for part in path.relative_to(tree).parts))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(other(path.read_text()))
    return out
