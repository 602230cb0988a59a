"""A platform with some values changed, and the ablations: variants that switch one mechanism off."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tessera.core.errors import unknown_name
from tessera.platforms import Platform
from tessera.platforms.model import Value

BASELINE = "baseline"


@dataclass(frozen=True)
class Variant:
    """``changes`` of a platform's values, and their meaning in one line."""

    name: str
    sentence: str
    changes: dict[str, int | str] = field(default_factory=dict)


ABLATIONS: tuple[Variant, ...] = (
    Variant(BASELINE, "the unchanged platform"),
    Variant(
        "no-pollution",
        "walker loads do not change the caches that the program sees; walks take as long as before",
        {"walker.pollutes": 0},
    ),
    Variant("infinite-walkers", "no walk waits for a walker", {"walker.count": 0}),
    Variant("no-overlap", "each instruction waits for the one before it", {"core.overlap": 0}),
)


def varied(platform: Platform, changes: dict[str, int | str], why: str) -> Platform:
    """``platform`` with ``changes``; each new value's source is ``why``.

    Raises:
        TesseraError: a key that the platform does not have.
    """
    if absent := sorted(set(changes) - set(platform.values)):
        raise unknown_name(f"parameter of {platform.name}", absent[0], list(platform.values))
    return replace(
        platform, values=platform.values | {key: Value(value, why) for key, value in changes.items()}
    )
