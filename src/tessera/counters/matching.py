"""Which events fit on a processor's counters at the same time: a matching of events to counters.

Every event lists the counters that can count it. A set of events fits if each can have a counter of its own
(Hall's theorem; found by augmenting paths, Kuhn 1955). The sets are small, so the slow algorithm is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def matched(allowed: Mapping[str, Sequence[str]]) -> dict[str, str] | None:
    """A counter for each name, or None if the names do not fit.

    Args:
        allowed: name -> counters that can count it, best first.
    """
    owner: dict[str, str] = {}

    def place(name: str, tried: set[str]) -> bool:
        for counter in allowed[name]:
            if counter in tried:
                continue
            tried.add(counter)
            if counter not in owner or place(owner[counter], tried):
                owner[counter] = name
                return True
        return False

    if not all(place(name, set()) for name in allowed):
        return None
    return {name: counter for counter, name in owner.items()}
