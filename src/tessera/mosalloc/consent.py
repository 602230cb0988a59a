"""Permission to change the machine's pools of huge pages: --yes, TESSERA_RESERVE=1, or an answer."""

from __future__ import annotations

import sys

import click

from tessera.machine.reserve import reserving_allowed


def allowed(yes: bool, question: str) -> bool:
    """Whether pages may be added; asks only where somebody can answer."""
    if yes or reserving_allowed():
        return True
    return sys.stdin.isatty() and click.confirm(question, default=False, err=True)
