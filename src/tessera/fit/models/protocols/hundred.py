"""Protocol `hundred`: 6-fold cross validation with more layouts (MICRO'20 section VI-C).

The paper says that 54 samples were sometimes not enough for cross validation and that up to 100 were used.
Settings are the numbers of layouts, 54, 70, 85 and 100: the first 54 by name of the paper's own, then
further random windows (`random-9` and up; `tessera layouts generate --random-count 55` makes them).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tessera.fit.models.protocols.setting import Data, Protocol, Setting, fold_splits

SIZES = (54, 70, 85, 100)
FOLDS = 6
PAPERS_RANDOM = 9  #: random-0..8 are among the 54


def settings(data: Data) -> list[Setting]:
    layouts = data.samples.layouts
    extra = [row for row in data.rows if _number(layouts[row]) >= PAPERS_RANDOM]
    extra.sort(key=lambda row: _number(layouts[row]))
    base = [row for row in data.rows if row not in set(extra)]
    ordered = np.array([*base, *extra])
    found = []
    for size in SIZES:
        if size > len(ordered):
            reason = (
                f"needs {size} layouts, there are {len(ordered)}: tessera layouts generate --random-count"
            )
            found.append(Setting(str(size), message=f"{reason} {size - 45}"))
        else:
            found.append(replace(fold_splits(data, np.sort(ordered[:size]), FOLDS), name=str(size)))
    return found


def _number(layout: str) -> int:
    """The number of a random window, -1 for any other layout."""
    head, _, tail = layout.partition("-")
    return int(tail) if head == "random" and tail.isdigit() else -1


HUNDRED = Protocol("hundred", "6-fold cross validation with up to 100 layouts", settings, trains=True)
