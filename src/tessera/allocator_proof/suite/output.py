"""An outcome on the terminal and as files."""

from __future__ import annotations

import csv
import hashlib
import json
import platform
from collections.abc import Sequence
from pathlib import Path

from tessera.allocator_proof.suite.model import FAIL, PASS, SKIP, CheckOutcome, counts, summary
from tessera.core.files import write_text, writing
from tessera.machine.limits import machine_processors


def header(library: Path) -> str:
    """Which library was proven, and where."""
    if library.exists():
        digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
        subject = f"{library.name} sha256 {digest}..."
    else:
        subject = f"{library.name} is not built: ./run tessera build --test mosalloc"
    libc = " ".join(platform.libc_ver())
    return f"{subject}; {platform.system()} {platform.release()}, {libc}, {machine_processors()} processors"


def as_text(number: int, outcome: CheckOutcome) -> str:
    """Heading, table, notes, what did not pass, and the summary line."""
    title = f"{number}. {outcome.section.title} ({outcome.seconds:.0f} s)"
    found = outcome.findings
    lines = [title, "=" * len(title), found.text]
    lines += [f"note: {note}" for note in found.notes]
    lines += _grouped(FAIL, found.checks) + _grouped(SKIP, found.checks)
    return "\n".join([*lines, summary(found.checks), ""])


def _grouped(verdict: str, checks) -> list[str]:
    """The checks with this verdict, grouped by reason: one reason for 100 cases is one line."""
    names: dict[str, list[str]] = {}
    for check in checks:
        if check.verdict == verdict:
            names.setdefault(check.reason, []).append(check.name)
    lines = []
    for reason, found in names.items():
        # Failures are named one by one, however many there are.
        many = f" and {len(found) - 3} more" if verdict == SKIP and len(found) > 3 else ""
        lines.append(f"{verdict} {', '.join(found[:3] if many else found)}{many}: {reason}")
    return lines


def remove_old(folder: Path, names: Sequence[str]) -> None:
    """Results of an earlier proof must not look like this one's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for suffix in (".json", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)


def write(outcome: CheckOutcome, folder: Path, *, library: str) -> None:
    """``<section>.json``: every check and the totals; ``<section>.csv``: the table."""
    name, found = outcome.section.name, outcome.findings
    data = {
        "section": name,
        "title": outcome.section.title,
        "subject": library,
        "seconds": round(outcome.seconds, 2),
        **{verdict: count for verdict, count in counts(found.checks).items()},
        "notes": list(found.notes),
        "checks": [{"name": c.name, "verdict": c.verdict, "reason": c.reason} for c in found.checks],
    }
    write_text(folder / f"{name}.json", json.dumps(data, indent=2) + "\n")
    if found.rows:
        with writing(folder / f"{name}.csv") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(found.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found.rows)


def passed(outcomes: Sequence[CheckOutcome]) -> bool:
    """True if something was proven and nothing failed."""
    checks = [check for outcome in outcomes for check in outcome.findings.checks]
    found = counts(checks)
    return found[FAIL] == 0 and found[PASS] > 0
