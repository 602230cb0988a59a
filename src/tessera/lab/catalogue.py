"""All studies: the name, the place of the function, and what it answers. ``tessera lab list`` prints them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A study of ``tessera lab run``, or a step of ``tessera dev step``.

    Attributes:
        place: ``module:function``; the module is imported when the study runs.
        about: one line for the list.
    """

    place: str
    about: str

    @property
    def module(self) -> str:
        return self.place.partition(":")[0]


#: heading -> name -> study
GROUPS: dict[str, dict[str, Entry]] = {
    "The simulator": {
        "sampling": Entry(
            "tessera.lab.studies.sampling:sampling",
            "Compare sampling methods with the full simulation of a window.",
        ),
        "ablations": Entry(
            "tessera.lab.studies.ablations:ablations",
            "Switch off one mechanism at a time; report slope and curvature of runtime over walk cycles.",
        ),
        "sweep": Entry(
            "tessera.lab.studies.sweep:sweep",
            "Vary each assumed value of a platform; report which conclusions still hold.",
        ),
    },
}
STUDIES = {name: entry for group in GROUPS.values() for name, entry in group.items()}

#: Keys of a section of the configuration that choose jobs; all others are keys of the study.
CHOOSE_JOBS = {"workload", "workloads", "platform", "platforms", "window_accesses", "windows"}


def words(section: Mapping[str, Any], **more: Any) -> str:
    """Words KEY=VALUE of a section of the configuration and of ``more``, quoted for a shell.

    A list is comma-separated; if an item has a comma, the key is repeated instead. None gives no word.
    """
    found = []
    for key, value in (section | more).items():
        if value is None or (key in CHOOSE_JOBS and key not in more):
            continue
        items = list(value) if isinstance(value, list | tuple) else [value]
        texts = [("no", "yes")[item] if isinstance(item, bool) else str(item) for item in items]
        for text in texts if any("," in text for text in texts) else [",".join(texts)]:
            found.append(f"{key}={shlex.quote(text)}")
    return " ".join(found)
