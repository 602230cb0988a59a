"""Runs sections one after the other; one that breaks is a failure and the next ones still run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from tessera.allocator_proof.suite.model import FAIL, Check, CheckOutcome, Findings, ProofRequest, Section


def run_sections(sections: Sequence[Section], request: ProofRequest) -> Iterator[CheckOutcome]:
    """Each section's outcome when it is done. Interrupts are not caught: they end the proof."""
    for section in sections:
        request.say(f"{section.title} ...")
        started = time.monotonic()
        findings = _findings(section, request)
        yield CheckOutcome(section, findings, time.monotonic() - started)


def _findings(section: Section, request: ProofRequest) -> Findings:
    try:
        found = section.run(request)
    except Exception as error:  # whatever it is, it is this section's failure and no other's
        reason = f"{type(error).__name__}: {error}"
        return Findings([Check(section.name, FAIL, reason)], f"FAIL: {reason}")
    if not found.checks:
        reason = "the section checked nothing"
        return Findings([Check(section.name, FAIL, reason)], found.text, found.rows, found.notes)
    return found
