"""Protocol `heuristics`: fitted to layouts of some heuristics, tested on those of another.

Growing, random and sliding windows (MICRO'20 section VI-B) place huge pages differently; layouts of one
heuristic are alike, and a random fold has siblings of its layouts on the other side. Settings are
`growing->random` and so on for each ordered pair, and `growing+random->sliding` for two against one. A
layout's heuristic is the first word of its name. Duplicates of a training layout are not tested.

Models defined by the 4KB and 2MB runs get these two runs in every setting; the other models are fitted to
the named heuristics only.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from tessera.fit.models.protocols.setting import Data, Protocol, Setting

HEURISTICS = ("growing", "random", "sliding")


def settings(data: Data) -> list[Setting]:
    own = np.array([name.split("-")[0] for name in data.samples.layouts])
    found = [_setting(data, own, (first,), second) for first, second in permutations(HEURISTICS, 2)]
    for tested in HEURISTICS:
        found.append(_setting(data, own, tuple(h for h in HEURISTICS if h != tested), tested))
    return found


def _setting(data: Data, own: np.ndarray, trained: tuple[str, ...], tested: str) -> Setting:
    name = f"{'+'.join(trained)}->{tested}"
    train = np.flatnonzero(np.isin(own, trained))
    test = np.flatnonzero((own == tested) & ~np.isin(data.groups, data.groups[train]))
    for rows, which in ((train, "to fit"), (test, "to test")):
        if not len(rows):
            return Setting(name, message=f"no layouts {which}: names start with {', '.join(HEURISTICS)}")
    return Setting(name, [(train, test)])


PROTOCOL = Protocol("heuristics", "fitted to some heuristics, tested on another", settings)
