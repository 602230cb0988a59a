"""The list of pages that every page shows, in groups."""

from __future__ import annotations

import re

from tessera.show.report.pages import GROUPS, PAGES, gaps

PDF = "report.pdf"


def groups(facts) -> list[dict]:
    """``name`` and ``items_`` (``href, label, count``) of each group that has pages."""
    counts = {"gaps.html": gaps.count(facts)}
    items: dict[str, list[dict]] = {name: [] for name in GROUPS}
    for page in PAGES:
        if page.exists(facts):
            items[page.group].append(_item(page.href, page.label, counts.get(page.href)))
    items["Notebooks"] = [_item(f"notebooks/{name}", title(name)) for name in facts.notebooks]
    if facts.pdf_written:
        items["Report"].append(_item(PDF, "PDF"))
    return [{"name": name, "items_": found} for name, found in items.items() if found]


def title(name: str) -> str:
    """``01-quick-tour.html`` as ``1 Quick tour``."""
    words = re.sub(r"[-_]+", " ", name.removesuffix(".html")).strip()
    number, _, rest = words.partition(" ")
    if number.isdigit() and rest:
        return f"{int(number)} {rest[:1].upper()}{rest[1:]}"
    return words[:1].upper() + words[1:]


def _item(href: str, label: str, count: int | None = None) -> dict:
    return {"href": href, "label": label, "count": count}
