"""Whether processors of AMD count walk cycles: by the published lists of events, and by measured machines.

Lists and machines give different verdicts. A list is a printed text, so it decides proof-reading only. A
finding needs a machine whose counters opened the events of its class: a bundle has their counts.
"""

from __future__ import annotations

from tessera.counters.classes import CounterClass, classes
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.model import class_matches
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.results.pair import Pair

LISTS = "published"  #: provenance of the table of events: lists of the vendor and of Linux
MEASURE = "./run measure --out bundle; ./run reproduce --bundle bundle"


def amd_classes() -> list[CounterClass]:
    """The classes of AMD's processors in the table of events, at least one."""
    found = [one for one in classes().values() if not one.intel]
    if not found:
        raise Missing("the table of events has no class of AMD's processors", "tessera counters list")
    return found


def listed_walk_events(claim, evidence: Evidence) -> Outcome:
    """The most events of walk cycles that a class of AMD has in the published lists."""
    return Outcome(max(len(one.sides("C")) for one in amd_classes()), LISTS)


def counted_walk_events(claim, evidence: Evidence) -> Outcome:
    """The most events of walk cycles with which a measured machine of AMD counted.

    A machine counts only if it has M in each good cell: then the events of its class opened. A class without
    an event of C must have cells without C; a value there was counted by an event that the table lacks.
    """
    of_amd = {one.name: len(one.sides("C")) for one in amd_classes()}
    measured = [pair for pair, kind in _provenances(evidence).items() if kind == "measured"]
    mine = [
        pair
        for pair in measured
        if pair.generation in of_amd and class_matches(claim.hardware_class, pair.generation)
    ]
    if not mine:
        names = ", ".join(f"{name} {number}" for name, number in of_amd.items())
        raise Missing(f"needs a machine of AMD; events of walk cycles in published lists: {names}", MEASURE)
    value = max(_events(pair, evidence, of_amd[pair.generation]) for pair in mine)
    return Outcome(value, "measured", mine[0].generation)


def _provenances(evidence: Evidence) -> dict[Pair, str]:
    """None where no cell is good: a run without cells asks for a machine, too."""
    try:
        return evidence.provenances
    except Missing:
        return {}


def _events(pair: Pair, evidence: Evidence, listed: int) -> int:
    cells = evidence.samples(pair)
    if cells["stlb_misses"].isna().any():
        raise Missing(f"{pair}: a cell has no M, so nothing shows that its counters opened", MEASURE)
    return max(listed, int(cells["walk_cycles"].notna().any()))


EVALUATORS = {"listed_walk_events": listed_walk_events, "counted_walk_events": counted_walk_events}
