"""PASS or FAIL of one run: its own checks, its answer beside the plain run's, and its pages."""

from __future__ import annotations

import json
from pathlib import Path

from tessera.allocator_proof.programs.model import Program

OUTSIDE_KEYS = ("kernel_heap_bytes", "stack_bytes", "anonymous_bytes", "unseen_bytes")


def read_reports(paths: list[Path]) -> list[dict]:
    """The launcher's reports that were written."""
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def page_fault(program: Program, reports: list[dict], asked: int) -> str:
    """Why the pages differ from the layout; empty if they do not.

    ``fallback`` passes only where the row says that it protects parts of huge pages, or maps some itself, and
    only when this is the whole reason: a window that never got its pages is a failure for every program.
    """
    if len(reports) != asked:
        return f"{asked} runs wrote {len(reports)} reports"
    for report in reports:
        verdict, counters = report["verdict"], report["counters"]
        split = counters.get("split_pages", 0)
        splits = program.splits and split > 0
        maps = program.maps_huge_pages and _maps_huge_pages(report) and split == 0
        expected = (splits or maps) and counters["fallback_windows"] == 0
        if verdict == "confirmed" or (verdict == "fallback" and expected):
            continue
        return f"pages: {verdict} ({report['reason'] or 'no reason given'})"
    return ""


def _maps_huge_pages(report: dict) -> bool:
    """The program or a forked child mapped huge pages itself, and the pools have the pages of the layout."""
    parts = (report["counters"], report.get("children") or {})
    if not any(part.get("own_huge_bytes", 0) for part in parts):
        return False
    small = report["small_pages"]
    wrong = small["anon_huge_bytes"] or small["wrong_page_bytes"]
    return not wrong and all(window["confirmed"] for window in report["windows"])


def answer_fault(found: str, plain: str) -> str:
    """The first difference to the plain run's answer; empty if there is none."""
    if found == plain:
        return ""
    pairs = zip(found.splitlines() + [""], plain.splitlines() + [""], strict=False)
    ours, theirs = next(((a, b) for a, b in pairs if a != b), (found[-80:], plain[-80:]))
    return f"answer differs from the plain run's: {ours[:120]!r}, plain {theirs[:120]!r}"


def numbers(reports: list[dict]) -> dict[str, int | None]:
    """What the table shows of the reports; None where this build of the library doesn't report it."""
    if not reports:
        return {}
    pools = [{pool["type"]: pool["used_bytes"] for pool in report["pools"]} for report in reports]
    return {
        "heap_used_bytes": max(pool["brk"] for pool in pools),
        "anon_used_bytes": max(pool["mmap"] for pool in pools),
        "split_pages": _sum(report["counters"].get("split_pages") for report in reports),
        "outside_bytes": _max(_outside(report) for report in reports),
        "pool_calls": _sum(_calls(report, "pool") for report in reports),
        "kernel_calls": _sum(_calls(report, "kernel") for report in reports),
    }


def _outside(report: dict) -> int | None:
    outside = report.get("outside")
    return None if outside is None else sum(outside.get(key, 0) for key in OUTSIDE_KEYS)


def _calls(report: dict, where: str) -> int | None:
    calls = report.get("calls")
    return None if calls is None else sum(row.get(where, 0) for row in calls.values())


def _sum(values) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _max(values) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if known else None
