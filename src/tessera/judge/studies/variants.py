"""A platform with some values changed, and the ablations: variants that switch one mechanism off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tessera.core.errors import unknown_name
from tessera.platforms import Platform
from tessera.platforms.change import with_values

BASELINE = "baseline"
NO_MISPREDICTIONS = "no-mispredictions"


@dataclass(frozen=True)
class Variant:
    """``changes`` of a platform's values, and their meaning in one line.

    ``walks``: the mechanism changes where walks find their entries, so C may differ from the baseline's.
    """

    name: str
    sentence: str
    changes: dict[str, int | str] = field(default_factory=dict)
    walks: bool = False


ABLATIONS: tuple[Variant, ...] = (
    Variant(BASELINE, "the unchanged platform"),
    Variant(
        "no-pollution",
        "walker loads do not change the caches that the program sees; walks take as long as before",
        {"walker.pollutes": 0},
    ),
    Variant("infinite-walkers", "no walk waits for a walker", {"walker.count": 0}),
    Variant("no-overlap", "each instruction waits for the one before it", {"core.overlap": 0}),
    Variant(NO_MISPREDICTIONS, "all branches are predicted right", {"branch.predictor": "perfect"}),
    Variant(
        "no-ports",
        "any number of loads, stores and computations begin in a cycle",
        {"core.ports.load": 0, "core.ports.store": 0, "core.ports.alu": 0},
    ),
    Variant("no-forwarding", "loads do not see stores that wait", {"core.store_forward_cycles": 0}),
    Variant(
        "no-string-costs",
        "string instructions and copies of the kernel take no time but that of their accesses",
        {"core.string.begin_cycles": 0, "core.string.page_cycles": 0},
    ),
    Variant("late-registers", "the stack pointer waits for loaded data", {"core.early_registers": 0}),
    Variant("no-write-backs", "written lines are not sent back to memory", {"cache.write_backs": 0}),
    Variant("unqueued-walks", "loads of walks wait in no queue of memory", {"dram.queues_walks": 0}),
    Variant(
        "no-slices", "the set of a line in L3 is chosen without a hash", {"cache.l3.slices": 0}, walks=True
    ),
)


#: those that test explanations of slope and curvature (hypotheses.py), and mispredictions
EXPLANATIONS = ("no-pollution", "infinite-walkers", "no-overlap", NO_MISPREDICTIONS)


def named(names: Sequence[str]) -> tuple[Variant, ...]:
    """The baseline and the ablations with these names; without names, all.

    Raises:
        TesseraError: a name that no ablation has.
    """
    known = [variant.name for variant in ABLATIONS]
    if absent := sorted(set(names) - set(known)):
        raise unknown_name("ablation", absent[0], known)
    return tuple(v for v in ABLATIONS if not names or v.name == BASELINE or v.name in names)


def varied(platform: Platform, changes: dict[str, int | str], why: str) -> Platform:
    """``platform`` with ``changes``; each new value's source is ``why``. The simulator checks the values.

    Raises:
        TesseraError: a key that the platform does not have.
    """
    return with_values(platform, changes, why)
