"""``tessera measure bundle verify``: every check of a bundle, and what keeps it from deciding claims.

The checks guard against mistakes: a damaged file, a wrong class, counts that do not belong together. Someone
who invents all counts with care passes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.measure.bundles import archive, file_format, head_checks, run_checks, texts
from tessera.measure.bundles.archive import contents
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.file_format import MOST_PROBLEMS
from tessera.measure.bundles.reader import parse_bundle

MOST_REASONS = 20  #: of one check; further ones are counted
_READABLE = "readable"

#: name -> (what it checks, function)
CHECKS = {
    "protocol": ("the protocol is known", head_checks.check_protocol),
    "machine": ("the class follows from CPUID", head_checks.check_machine),
    "day": ("the day exists and is not in the future", head_checks.check_day),
    "events": ("codes are those of the table of events", head_checks.check_events),
    "environment": ("every condition is recorded, those of runs as counted", head_checks.check_environment),
    "workloads": ("sizes agree, results were verified", run_checks.check_workloads),
    "layouts": ("layouts of a workload belong together", run_checks.check_layouts),
    "rounds": ("every run of a round is there", run_checks.check_rounds),
    "pages": ("runs had the pages of their layout", run_checks.check_pages),
    "whole": ("every event was counted all the time", run_checks.check_whole),
    "region": ("clocks of program and counters agree", run_checks.check_region_clocks),
    "bounds": ("C <= walkers x R; cycles with a walk <= R", run_checks.check_bounds),
    "sizes": ("counts by page size add up", run_checks.check_sizes),
    "rates": ("clock rates are possible", run_checks.check_rates),
    "instructions": ("instructions are equal over layouts", run_checks.check_instructions),
    "equal-layouts": ("layouts with equal windows agree", run_checks.check_equal_layouts),
    "cells": ("cells are what runs and counts give", run_checks.check_cells),
    "private": ("no paths, no names of this machine", texts.private_in_bundle),
}


@dataclass(frozen=True)
class Checked:
    """One check with what it found wrong."""

    name: str
    about: str
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.reasons


@dataclass(frozen=True)
class Verified:
    """``bars``: why the bundle decides no claim, even if it is correct. ``bundle``: None if unreadable."""

    checks: tuple[Checked, ...]
    bars: tuple[str, ...]
    bundle: Bundle | None

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def decides(self) -> bool:
        """Whether claims may be judged with it."""
        return self.passed and not self.bars


def verify_bundle(path: Path | str) -> Verified:
    """Check a folder or a zip file.

    Raises:
        TesseraError: nothing is at this path. Everything else that is wrong is a check that failed.
    """
    return verify_and_read(path)[0]


def verify_and_read(path: Path | str) -> tuple[Verified, dict[str, bytes]]:
    """The same, with the bytes that were checked, for who keeps them; raises as :func:`verify_bundle`."""
    try:
        files = contents(Path(path))
    except TesseraError as error:
        if error.code == "bundle-absent":
            raise
        return _unreadable(error), {}
    return verify_files(str(path), files), files


def verify_files(name: str, files: Mapping[str, bytes]) -> Verified:
    """Check a bundle from the bytes of its files."""
    try:
        changed = (
            archive.sums_problems(files)
            if file_format.SUMS_FILE in files
            else [f"no {file_format.SUMS_FILE}: it is not sealed"]
        )
        found = [Checked("sums", "every file has its sum", _few(changed))]
        bundle = parse_bundle(name, files)
    except TesseraError as error:
        return _unreadable(error)
    found.append(Checked(_READABLE, "every file is as documented"))
    found += [Checked(name, about, _few(check(bundle))) for name, (about, check) in CHECKS.items()]
    return Verified(tuple(found), tuple(head_checks.why_no_evidence(bundle)), bundle)


def verified_bundle(path: Path | str) -> Bundle:
    """The bundle, if every check passes.

    Raises:
        TesseraError: nothing is at this path, or a check fails (``bundle-fails``).
    """
    done = verify_bundle(path)
    if done.bundle is None or not done.passed:
        raise fails(str(path), done)
    return done.bundle


def fails(name: str, done: Verified) -> TesseraError:
    """The error of a bundle that can't be used because of its first failed check."""
    first = next(check for check in done.checks if not check.passed)
    return TesseraError(
        f"bundle {name}",
        f"check {first.name} fails: {first.reasons[0]}",
        f"tessera measure bundle verify {name} prints all checks",
        exit_code=EXIT_FAILED,
        code="bundle-fails",
    )


def _unreadable(error: TesseraError) -> Verified:
    return Verified((Checked(_READABLE, "every file is as documented", (error.problem,)),), (), None)


def _few(reasons: Iterable[str]) -> tuple[str, ...]:
    """The first reasons, and how many more there are; counting ends at a limit."""
    stream = iter(reasons)
    shown = list(islice(stream, MOST_REASONS))
    more = sum(1 for _ in islice(stream, MOST_PROBLEMS + 1))
    if more > MOST_PROBLEMS:
        shown.append(f"and more than {MOST_PROBLEMS} more")
    elif more:
        shown.append(f"and {more} more")
    return tuple(shown)
