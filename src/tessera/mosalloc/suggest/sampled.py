"""A profile from sampled addresses: misses of each 2MB of the pools, and halves to check a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tessera.mosalloc.samples.place import Place, read_place
from tessera.mosalloc.samples.script import read_samples
from tessera.mosalloc.samples.weigh import Weighed, weigh
from tessera.mosalloc.suggest.estimate import effective
from tessera.mosalloc.suggest.profile import Profile, add_up

#: Below this many samples in the pools the profile says little.
FEW_SAMPLES = 200


def summed(
    misses: Sequence[tuple[int, float]],
    bases: dict[str, tuple[int, int]],
    pool_bytes: dict[str, int],
    method: str,
    notes: tuple[str, ...] = (),
) -> Profile:
    """Addresses with the misses that they stand for, as a profile.

    Args:
        misses: (virtual address, misses).
        bases: pool -> (address of its offset 0, bytes) in the recorded run.
        pool_bytes: pools of the layout to propose.
        method: a sentence: how the misses were sampled.
    """
    found = add_up(misses, bases)
    inside = [(a, w) for a, w in misses if any(base <= a < base + size for base, size in bases.values())]
    if len(inside) < FEW_SAMPLES:
        notes = (*notes, f"only {len(inside)} samples lie in the pools: run the program longer")
    return Profile(
        "measured",
        method,
        found,
        float(sum(weight for _, weight in misses)),
        dict(pool_bytes),
        notes,
        halves=(add_up(inside[::2], bases), add_up(inside[1::2], bases)),
        samples=effective(weight for _, weight in inside),
    )


def from_files(samples: Path, report: Path) -> Profile:
    """The profile of a run that was recorded elsewhere: text of ``perf script``, and the run's report.

    Raises:
        TesseraError: as :func:`read_samples`, :func:`read_place` and :func:`weigh`.
    """
    place = read_place(report)
    found = weigh(read_samples(samples), place.pid, f"samples {samples}")
    made = _profile(found, place, "TLB misses in a recording of perf")
    if len(found.cores) != 1:
        return made
    note = f"all samples are of {found.cores[0]}: what the program did on other types of cores is not in them"
    return replace(made, notes=(*made.notes, note))


def of_place(samples, place: Place, owner: str, what: str, *, faults: bool = False) -> Profile:
    """The profile of samples of the run whose pools ``place`` gives."""
    return _profile(weigh(samples, place.pid, owner, faults=faults), place, what)


def _profile(found: Weighed, place: Place, what: str) -> Profile:
    method = f"{len(found.misses):,} samples of {what}, of {found.seen:,} samples of the program"
    return summed(found.misses, place.bases, place.pool_bytes, method, found.notes)
