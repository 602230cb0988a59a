"""The classes of variants of P, and the variants: a new one is one line of :data:`VARIANTS`.

A variant is P with some values changed, under the layouts that the models are fitted to, or under mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tessera.core.errors import unknown_name
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.platforms import Platform, Value, set_values

SOURCE = "assumed: a variant of the study of transfer"
HIT, DESIGN, WALKERS = "tlb.stlb.hit_cycles", "mmu.design", "walker.count"
THP, IDEAL, NOOP = "thp", "ideal", "noop"
Changes = dict[str, int | str]

#: class -> in which way its designs differ from P; in the order of tables and figures
GROUPS: dict[str, str] = {
    "control": "the same processor",
    "reach": "more translations in the same time",
    "hit-time": "another hit time",
    "invisible": "the same H, M and C",
    "walk-cost": "another cost of walks",
    "behind-l3": "translation behind L3",
    "ideal": "translation takes no time: is the intercept of a model the ideal runtime?",
}

#: What a variant runs under.
LAYOUTS, SOME_LAYOUTS, NEW_LAYOUTS, MAPPINGS = "layouts", "some layouts", "new layouts", "mappings"
#: Layouts of :data:`SOME_LAYOUTS`: designs that are not simulated on vector lanes are slow.
FEW = (ALL_4KB, "growing-4", ALL_2MB)


#: Families of designs, by which conformal intervals are made (:mod:`.rules`).
SAME, STLB, COALESCING, SEGMENT, QUEUES, WALK, BEHIND_L3 = (
    "same", "STLB", "coalescing", "segment", "queues", "walk", "behind L3",
)  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """``changes`` of P, its class and family, and what it runs under."""

    name: str
    group: str
    family: str
    sentence: str
    changes: Callable[[Platform], Changes]
    under: str = LAYOUTS


def _of(p: Platform, key: str) -> int:
    return int(p.values[key].value)


def _times(key: str, factor: int) -> Callable[[Platform], Changes]:
    return lambda p: {key: _of(p, key) * factor}


def _always(**changes: int | str) -> Callable[[Platform], Changes]:
    return lambda p: {key.replace("__", "."): value for key, value in changes.items()}


#: design -> the key of the look-up of its own entries, and its default (docs/explain/designs.md)
OWN_HIT = {
    "cluster": ("design.cluster.cluster_cycles", 8),
    "cluster-2mb": ("design.cluster-2mb.cluster_cycles", 8),
    "anchor": ("design.anchor.anchor_cycles", 8),
    "rmm": ("design.rmm.range_cycles", 8),
}


def _design(name: str, later: int | None = None) -> Callable[[Platform], Changes]:
    """The design; ``later``: its own entries take the hit time of P and so many cycles more."""

    def changes(p: Platform) -> Changes:
        own = {} if later is None else {OWN_HIT[name][0]: _of(p, HIT) + later}
        return {DESIGN: name, **own}

    return changes


def _pde(factor: int) -> Callable[[Platform], Changes]:
    ways = {} if factor else {"pwc.pde.ways": 0}
    return lambda p: {"pwc.pde.entries": _of(p, "pwc.pde.entries") * factor, **ways}


VARIANTS: tuple[Variant, ...] = (
    Variant(NOOP, "control", SAME, "P on the code path of all designs", _design(NOOP), SOME_LAYOUTS),
    Variant("new-layouts", "control", SAME, "P under layouts that no model saw", _always(), NEW_LAYOUTS),
    Variant(THP, "control", SAME, "P under mappings", _design(THP), MAPPINGS),
    Variant("stlb-x2", "reach", STLB, "twice the STLB entries", _times("tlb.stlb.entries", 2)),
    Variant("stlb-x4", "reach", STLB, "four times the STLB entries", _times("tlb.stlb.entries", 4)),
    Variant("cluster-2mb", "reach", COALESCING, "groups of eight pages", _design("cluster-2mb", 0), MAPPINGS),
    Variant("anchor", "reach", COALESCING, "anchors", _design("anchor", 0), MAPPINGS),
    Variant("rmm", "reach", COALESCING, "ranges", _design("rmm", 0), MAPPINGS),
    Variant(
        "direct-segment", "reach", SEGMENT, "a segment without TLBs", _design("direct-segment"), MAPPINGS
    ),
    Variant("stlb-slower", "hit-time", STLB, "twice the hit time of the STLB", _times(HIT, 2)),
    Variant(
        "cluster-2mb-8", "hit-time", COALESCING, "clusters take a cycle more", _design("cluster-2mb", 1),
        MAPPINGS,
    ),
    Variant("anchor-8", "hit-time", COALESCING, "anchors take a cycle more", _design("anchor", 1), MAPPINGS),
    Variant("rmm-8", "hit-time", COALESCING, "ranges take a cycle more", _design("rmm", 1), MAPPINGS),
    Variant("walkers-x2", "invisible", QUEUES, "twice the walkers", _times(WALKERS, 2)),
    Variant(
        "mshrs-flipped", "invisible", QUEUES, "walks hold MSHRs, or do not",
        lambda p: {"walker.uses_mshrs": 1 - _of(p, "walker.uses_mshrs")},
    ),
    Variant("no-pollution", "invisible", QUEUES, "walks leave the caches alone", _always(walker__pollutes=0)),
    Variant("no-pde-cache", "walk-cost", WALK, "no cache of page-directory entries", _pde(0)),
    Variant("pde-cache-x4", "walk-cost", WALK, "four times the page-directory entries", _pde(4)),
    Variant("five-levels", "walk-cost", WALK, "page tables of five levels", _always(page_table__levels=5)),
    Variant(
        "slower-loads", "walk-cost", WALK, "each load of a walk takes 20 cycles more",
        lambda p: {"walker.load_adds_cycles": _of(p, "walker.load_adds_cycles") + 20},
    ),
    Variant("nested", "walk-cost", WALK, "two-dimensional walks", _design("nested"), MAPPINGS),
    Variant("delayed-tlb", "behind-l3", BEHIND_L3, "a TLB behind L3", _design("hvc-delayed-tlb"), MAPPINGS),
    Variant(
        "many-segment", "behind-l3", BEHIND_L3, "segments behind L3", _design("hvc-many-segment"), MAPPINGS
    ),
    Variant(IDEAL, "ideal", IDEAL, "translation takes no time", _design(IDEAL), MAPPINGS),
)  # fmt: skip
NAMES = tuple(one.name for one in VARIANTS)


def chosen(groups: Sequence[str] = (), names: Sequence[str] = ()) -> tuple[Variant, ...]:
    """Variants of these classes and with these names; without any, all.

    Raises:
        TesseraError: an unknown class or name.
    """
    for kind, asked, known in (("class", groups, GROUPS), ("variant", names, NAMES)):
        if absent := [name for name in asked if name not in known]:
            raise unknown_name(f"{kind} of the study of transfer", absent[0], list(known))
    wanted = [v for v in VARIANTS if (not groups or v.group in groups) and (not names or v.name in names)]
    return tuple(wanted)


def changed(platform: Platform, changes: Mapping[str, int | str], why: str = SOURCE) -> Platform:
    """``platform`` with ``changes``, also of keys of a component that its file lacks.

    Raises:
        TesseraError: no such key, or a value that breaks its rule.
    """
    made = set_values(platform, dict(changes))
    return replace(made, values=made.values | {key: Value(v, why) for key, v in changes.items()})


def text_of_changes(changes: Mapping[str, int | str]) -> str:
    """``key=value`` pairs, as in the tables."""
    return " ".join(f"{key}={value}" for key, value in changes.items())


#: beginning of a key -> class of a design that changes it
_KEYS = (
    (HIT, "hit-time"), ("tlb.", "reach"), (WALKERS, "invisible"), ("walker.uses_mshrs", "invisible"),
    ("walker.pollutes", "invisible"), ("walker.serves_background", "invisible"), ("walker.", "walk-cost"),
    ("pwc.", "walk-cost"), ("page_table.", "walk-cost"),
    ("page_table_format.", "walk-cost"), ("walk_cache.", "walk-cost"), ("tlb_organisation.", "reach"),
)  # fmt: skip
_DESIGNS = {
    "conventional": "control", NOOP: "control", THP: "control", "baseline": "control", "cluster": "reach",
    "cluster-2mb": "reach", "anchor": "reach", "rmm": "reach", "direct-segment": "reach",
    "nested": "walk-cost", "hvc-delayed-tlb": "behind-l3", "hvc-many-segment": "behind-l3", IDEAL: "ideal",
}  # fmt: skip


#: beginning of a key -> family of a design that changes it; designs have the families of the variants
_FAMILIES = (("tlb", STLB), ("walker.", WALK), ("pwc.", WALK), ("page_table", WALK), ("walk_cache.", WALK))
_FAMILIES_OF_DESIGNS = {
    "cluster": COALESCING, "cluster-2mb": COALESCING, "anchor": COALESCING, "rmm": COALESCING,
    "direct-segment": SEGMENT, "nested": WALK,
}  # fmt: skip


def families_of(platform: Platform, changes: Mapping[str, int | str]) -> set[str]:
    """Families of the variants that a design is like; a change to the value that P has counts for nothing."""
    found = set()
    for key, value in changes.items():
        if key in platform.values and platform.values[key].value == value:
            continue
        if key == DESIGN:
            found.add(_FAMILIES_OF_DESIGNS.get(str(value), SAME))
        else:
            found |= {family for start, family in _FAMILIES if key.startswith(start)}
    return found - {SAME}


def groups_of(platform: Platform, changes: Mapping[str, int | str]) -> tuple[list[str], list[str]]:
    """(classes that a design falls in, in order; keys of it that belong to no class).

    A change to the value that P has counts for nothing. Without any other change the class is ``control``.
    """
    found, unknown = set(), []
    for key, value in changes.items():
        if key in platform.values and platform.values[key].value == value:
            continue
        if key == DESIGN:
            group = _DESIGNS.get(str(value))
        elif key.startswith("design."):
            continue  # keys of a design are judged with it
        else:
            group = next((group for start, group in _KEYS if key.startswith(start)), None)
        if group is None:
            unknown.append(f"{key}={value}")
        else:
            found.add(group)
    design = str(changes.get(DESIGN, ""))
    if design in OWN_HIT:
        key, default = OWN_HIT[design]
        hit = int(changes.get(HIT, platform.values[HIT].value))
        if int(changes.get(key, default)) != hit:
            found.add("hit-time")
    if len(found) > 1:
        found.discard("control")
    groups = [group for group in GROUPS if group in found]
    return groups or (["control"] if not unknown else []), unknown
