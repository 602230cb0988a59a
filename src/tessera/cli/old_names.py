"""Old commands and their new names: an old one ends in one line that names the new one (docs/moved.csv)."""

from __future__ import annotations

from collections.abc import Sequence

#: Groups that moved as they are, or whose commands have the same names in another group.
GROUPS = {
    "build": "dev build",
    "faults": "lab faults",
    "kernel": "lab kernel",
    "notebooks": "dev notebooks",
    "numa": "lab numa",
    "oracle": "lab oracle",
    "os": "lab os",
    "package": "dev package",
    "pipeline": "dev",
    "reference": "dev reference",
    "threads": "lab threads",
}
#: Commands; those of :data:`GROUPS` only where they are not simply in the new group.
COMMANDS = {
    "predict-design": "predict --design NAME ...",
    "study sampling": "lab run sampling KEY=VALUE...",
    "study ablations": "lab run ablations KEY=VALUE...",
    "study sweep": "lab run sweep KEY=VALUE...",
}


def new_name(words: Sequence[str]) -> tuple[str, str] | None:
    """(old, new) name of the command that these words begin with; None if it is none of the old ones."""
    for count in range(min(len(words), 4), 0, -1):
        old = " ".join(words[:count])
        if old in COMMANDS:
            return old, COMMANDS[old]
    if words and words[0] in GROUPS:
        return words[0], GROUPS[words[0]]
    return None
