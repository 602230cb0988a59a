"""What this machine can do, row by row, before and after anything is installed.

A row is a :class:`tessera.core.checks.Check`; this package has its three kinds. Only the standard library is
used in this package: it must work before anything is installed. Start with :mod:`examine`.
"""

from tessera.core.checks import FAIL, PASS, SKIP, Check


def part_found(name: str, found: str) -> Check:
    """A row without a gap."""
    return Check(name, PASS, found)


def skipped(name: str, found: str, remedy: str) -> Check:
    """A row for something optional that is missing; ``remedy``: what is left out, and a command if any."""
    return Check(name, SKIP, found, remedy)


def part_missing(name: str, found: str, remedy: str) -> Check:
    """A row for something that the main job needs and that is missing."""
    return Check(name, FAIL, found, remedy)
