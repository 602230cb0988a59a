"""Section "Cost of a walk" of the regime page: evidence, both ends, and claims that depend on the value."""

from __future__ import annotations

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.judge import walk_cost
from tessera.platforms.change import changed


def section(facts) -> dict:
    """Variables of ``parts/walk_cost.html``."""
    known, both = walk_cost.sources(), walk_cost.committed()
    return {
        "key": walk_cost.KEY,
        "lower": walk_cost.LOWER_CYCLES,
        "upper": walk_cost.UPPER_CYCLES,
        "sources": known,
        "deciding": [one.source for one in walk_cost.deciding(known)],
        "here": _here(facts),
        "claims": len(both),
        "differing": [one for one in both if one.differs],
        "shown": set(facts.claims.get("id", ())),  # this run's table may lack claims
    }


def _here(facts) -> list[dict]:
    """The value on each committed platform of this run."""
    found = []
    for name in facts.config.get("platforms") or []:
        try:
            platform = changed(platforms.load(name), facts.config.get("changes") or {})
        except TesseraError:
            continue  # the page "Platforms" says what is wrong
        found.append({"platform": name, "cycles": platform.values[walk_cost.KEY].value})
    return found
