"""The sections in the order of the proof, their runs, and the outcome on the terminal and as files.

A section is one file (two commands' tables share ``command_tables``), and one line in ``SECTIONS``. One that
breaks is a failure and the next ones still run.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP, Check, status_counts, status_summary
from tessera.core.errors import unknown_name
from tessera.core.files import write_text, writing
from tessera.lab.allocator_proof.suite import (
    cases,
    command_tables,
    differential,
    lives,
    other_glibc,
    stacks,
    threads,
)
from tessera.lab.allocator_proof.suite.section import CheckOutcome, Findings, ProofSettings, Section
from tessera.machine.limits import machine_processors

# In the order of the proof.
SECTIONS: tuple[Section, ...] = (
    cases.SECTION,
    differential.SECTION,
    other_glibc.SECTION,
    lives.SECTION,
    threads.SECTION,
    stacks.SECTION,
    command_tables.PROGRAMS_SECTION,
    command_tables.BENCHMARK_SECTION,
)


def chosen_sections(names: tuple[str, ...]) -> list[Section]:
    """The sections of these names in the proof's order, all without names."""
    known = {section.name: section for section in SECTIONS}
    for name in names:
        if name not in known:
            raise unknown_name("section", name, list(known))
    return [section for section in SECTIONS if not names or section.name in names]


def run_sections(sections: Sequence[Section], settings: ProofSettings) -> Iterator[CheckOutcome]:
    """Each section's outcome when it is done. Interrupts are not caught: they end the proof."""
    for section in sections:
        settings.say(f"{section.title} ...")
        started = time.monotonic()
        findings = _findings(section, settings)
        yield CheckOutcome(section, findings, time.monotonic() - started)


def _findings(section: Section, settings: ProofSettings) -> Findings:
    try:
        found = section.run(settings)
    except Exception as error:  # whatever it is, it is this section's failure and no other's
        reason = f"{type(error).__name__}: {error}"
        return Findings([Check(section.name, FAIL, reason)], f"FAIL: {reason}")
    if not found.checks:
        reason = "the section checked nothing"
        return Findings([Check(section.name, FAIL, reason)], found.text, found.rows, found.notes)
    return found


# An outcome on the terminal and as files.


def proof_header(library: Path) -> str:
    """Which library was proven, and where."""
    if library.exists():
        digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
        subject = f"{library.name} sha256 {digest}..."
    else:
        subject = f"{library.name} is not built: ./run tessera dev build --test mosalloc"
    libc = " ".join(platform.libc_ver())
    return f"{subject}; {platform.system()} {platform.release()}, {libc}, {machine_processors()} processors"


def outcome_text(number: int, outcome: CheckOutcome) -> str:
    """Heading, table, notes, what did not pass, and the summary line."""
    title = f"{number}. {outcome.section.title} ({outcome.seconds:.0f} s)"
    found = outcome.findings
    lines = [title, "=" * len(title), found.text]
    lines += [f"note: {note}" for note in found.notes]
    lines += _grouped(FAIL, found.checks) + _grouped(SKIP, found.checks)
    return "\n".join([*lines, status_summary(check.status for check in found.checks), ""])


def _grouped(status: str, checks) -> list[str]:
    """The checks with this status, grouped by reason: one reason for 100 cases is one line."""
    names: dict[str, list[str]] = {}
    for check in checks:
        if check.status == status:
            names.setdefault(check.found, []).append(check.name)
    lines = []
    for reason, found in names.items():
        # Failures are named one by one, however many there are.
        many = f" and {len(found) - 3} more" if status == SKIP and len(found) > 3 else ""
        lines.append(f"{status} {', '.join(found[:3] if many else found)}{many}: {reason}")
    return lines


def remove_old_results(folder: Path, names: Sequence[str]) -> None:
    """Results of an earlier proof must not look like this one's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for suffix in (".json", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)


def write_outcome(outcome: CheckOutcome, folder: Path, *, library: str) -> None:
    """``<section>.json``: every check and the totals; ``<section>.csv``: the table."""
    name, found = outcome.section.name, outcome.findings
    data = {
        "section": name,
        "title": outcome.section.title,
        "subject": library,
        "seconds": round(outcome.seconds, 2),
        **status_counts(check.status for check in found.checks),
        "notes": list(found.notes),
        "checks": [{"name": c.name, "verdict": c.status, "reason": c.found} for c in found.checks],
    }
    write_text(folder / f"{name}.json", json.dumps(data, indent=2) + "\n")
    if found.rows:
        with writing(folder / f"{name}.csv") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(found.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found.rows)


def proof_passed(outcomes: Sequence[CheckOutcome]) -> bool:
    """True if something was proven and nothing failed."""
    found = status_counts(check.status for outcome in outcomes for check in outcome.findings.checks)
    return found[FAIL] == 0 and found[PASS] > 0
