"""Platforms with some values changed: the ablations and the points of the sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tessera.core.errors import unknown_name
from tessera.core.platforms import Platform, PlatformKey, with_values

# A platform with some values changed, and the ablations: variants that switch one mechanism off.

BASELINE = "baseline"
NO_MISPREDICTIONS = "no-mispredictions"


@dataclass(frozen=True)
class Ablation:
    """``changes`` of a platform's values, and their meaning in one line.

    ``walks``: the mechanism changes where walks find their entries, so C may differ from the baseline's.
    """

    name: str
    sentence: str
    changes: dict[str, int | str] = field(default_factory=dict)
    walks: bool = False


ABLATIONS: tuple[Ablation, ...] = (
    Ablation(BASELINE, "the unchanged platform"),
    Ablation(
        "no-pollution",
        "walker loads do not change the caches that the program sees; walks take as long as before",
        {"walker.pollutes": 0},
    ),
    Ablation("infinite-walkers", "no walk waits for a walker", {"walker.count": 0}),
    Ablation("no-overlap", "each instruction waits for the one before it", {"core.overlap": 0}),
    Ablation(NO_MISPREDICTIONS, "all branches are predicted right", {"branch.predictor": "perfect"}),
    Ablation(
        "no-ports",
        "any number of loads, stores and computations begin in a cycle",
        {"core.ports.load": 0, "core.ports.store": 0, "core.ports.alu": 0},
    ),
    Ablation("no-forwarding", "loads do not see stores that wait", {"core.store_forward_cycles": 0}),
    Ablation(
        "no-string-costs",
        "string instructions and copies of the kernel take no time but that of their accesses",
        {"core.string.begin_cycles": 0, "core.string.page_cycles": 0},
    ),
    Ablation("late-registers", "the stack pointer waits for loaded data", {"core.early_registers": 0}),
    Ablation("no-write-backs", "written lines are not sent back to memory", {"cache.write_backs": 0}),
    Ablation("unqueued-walks", "loads of walks wait in no queue of memory", {"dram.queues_walks": 0}),
    Ablation(
        "no-slices", "the set of a line in L3 is chosen without a hash", {"cache.l3.slices": 0}, walks=True
    ),
)


#: those that test explanations of slope and curvature (:data:`.ablations.HYPOTHESES`), and mispredictions
EXPLANATIONS = ("no-pollution", "infinite-walkers", "no-overlap", NO_MISPREDICTIONS)


def named_ablation(names: Sequence[str]) -> tuple[Ablation, ...]:
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


# The variations of the sweep: every assumed value of a platform, one at a time.
#
# A number is halved and doubled, a switch is flipped, a replacement policy or a branch predictor becomes
# each of the others, and a mechanism with assumed values (a prefetcher, the DRAM model) is switched off, or
# on. Values that cannot be varied are listed with the reason, so no assumed value is left out silently.

FACTORS = (0.5, 2.0)
FLAG = "0 or 1"  #: unit of a switch
POLICIES = ("lru", "tree-plru", "srrip")
PREDICTORS = ("perfect", "gshare", "tage")
Changes = dict[str, int | str]


@dataclass(frozen=True)
class Switch:
    """A mechanism that is off with ``off``; ``on`` gives it the values of the Intel platforms."""

    prefix: str
    indicator: str  #: this key is 0 or ``none`` exactly when the mechanism is off
    off: Changes
    on: Changes


def _prefetcher(slot: str, kind: str, entries: int, degree: int, distance: int) -> Switch:
    names = [f"prefetch.{slot}.{name}" for name in ("kind", "entries", "degree", "distance")]
    on = dict(zip(names, (kind, entries, degree, distance), strict=True))
    return Switch(f"prefetch.{slot}.", names[0], dict(zip(names, ("none", 0, 0, 0), strict=True)), on)


_DRAM = {
    "dram.channels": 4,
    "dram.banks": 16,
    "dram.row_bytes": 8192,
    "dram.row_hit_saves_cycles": 30,
    "dram.row_conflict_adds_cycles": 30,
    "dram.bank_busy_cycles": 11,
}
SWITCHES: tuple[Switch, ...] = (
    _prefetcher("l1d", "stride", 24, 1, 1),
    _prefetcher("l2", "stream", 32, 2, 20),
    Switch("dram.", "dram.channels", dict.fromkeys(_DRAM, 0), _DRAM),
)


@dataclass(frozen=True)
class Variation:
    """One variation: the assumed ``key``, the ``alternative`` in words, the values that change."""

    key: str
    alternative: str
    changes: Changes

    @property
    def name(self) -> str:
        return f"{self.key} {self.alternative}"


def points(
    platform: Platform, keys: dict[str, PlatformKey], only: Sequence[str] = ()
) -> tuple[list[Variation], dict[str, str]]:
    """(points, {assumed key: why it is not varied}) of ``platform``; ``keys`` has the bounds.

    ``only``: beginnings of keys; without any, every assumed value is varied.
    """
    found, reasons = [], {}
    wanted = tuple(only) or ("",)
    for key, value in platform.values.items():
        if not value.assumed or not key.startswith(wanted):
            continue
        if key not in keys:
            reasons[key] = "the key belongs to a component, and only the simulator knows its bounds"
            continue
        own = list(_of(key, value.value, platform, keys[key]))
        found += [point for point in own if isinstance(point, Variation)]
        if not any(isinstance(point, Variation) for point in own):
            reasons[key] = "; ".join(dict.fromkeys(map(str, own))) or "no alternative is known"
    switched = [point for point in _switched(platform) if point.key.startswith(wanted)]
    return found + switched, {k: v for k, v in reasons.items() if not _in_switch(k)}


def _in_switch(key: str) -> bool:
    return any(key.startswith(switch.prefix) for switch in SWITCHES)


def _switched(platform: Platform) -> Iterator[Variation]:
    for switch in SWITCHES:
        mine = [value for key, value in platform.values.items() if key.startswith(switch.prefix)]
        if any(value.assumed for value in mine):
            is_on = platform.values[switch.indicator].value not in (0, "none")
            changes = switch.off if is_on else switch.on
            yield Variation(switch.prefix.rstrip("."), "off" if is_on else "on", dict(changes))


def _of(
    key: str, value: int | float | str, platform: Platform, bounds: PlatformKey
) -> Iterator[Variation | str]:
    """Points of one key, or sentences why there are none."""
    if key.startswith("cache.") and key.endswith(".replacement"):
        yield "under another policy than lru, layouts run one at a time, too slow for all of them"
        return
    if isinstance(value, str):
        names = PREDICTORS if key == "branch.predictor" else POLICIES if key.endswith(".replacement") else ()
        for name in names:
            if name != value:
                yield Variation(key, name, {key: name})
        return
    if bounds.unit == FLAG:
        yield Variation(key, str(1 - int(value)), {key: 1 - int(value)})
        return
    if value == 0:
        yield "the mechanism is off"
        return
    for factor in FACTORS:
        changes = _scaled(key, value, factor, platform)
        if isinstance(changes, str):
            yield changes
        elif changes[key] == value:
            yield f"{value} x{factor:g}, rounded, is {value}"
        elif not bounds.least <= changes[key] <= bounds.most:
            yield f"{changes[key]} is outside {bounds.least} to {bounds.most}"
        else:
            yield Variation(key, f"x{factor:g}", changes)


def _scaled(key: str, value: int | float, factor: float, platform: Platform) -> Changes | str:
    """``key`` times ``factor``, and its partner where a structure must keep whole sets; or why not."""
    scaled = max(1, int(value * factor + 0.5))
    head, _, tail = key.rpartition(".")
    entries, ways, size = (platform.values.get(f"{head}.{name}") for name in ("entries", "ways", "bytes"))
    if tail == "entries" and ways is not None:
        if ways.value == value or scaled < ways.value:  # fully associative, or no set would be left
            return {key: scaled, f"{head}.ways": scaled}
        return (
            {key: scaled}
            if scaled % ways.value == 0
            else f"{scaled} entries do not fill whole {ways.value}-way sets"
        )
    if tail == "ways":
        slots = entries.value if entries is not None else size.value // 64
        if slots % scaled or scaled > slots:
            return f"{slots} entries do not fill whole {scaled}-way sets"
    return {key: scaled}
