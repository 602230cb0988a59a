"""Old commands and their new names: an old one ends in one line that names the new one (docs/moved.csv)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

#: Groups that moved as they are, or whose commands have the same names in another group.
GROUPS = {
    "build": "dev build",
    "bundle": "measure bundle",
    "counters": "measure counters",
    "datasets": "workload data",
    "environment": "measure environment",
    "faults": "lab faults",
    "host": "measure clock",
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
    "predict-design": "predict --design FILE.yaml --workload NAME --platform NAME",
    "models predict": "predict --fit FOLDER --formula MODEL --point H,M,C",
    "models list": "models show",
    "models explain": "models show --fit FOLDER",
    "bundle list": "measure bundle show",
    "counters list": "measure counters show",
    "host run": "measure clock",
    "datasets list": "workload data show",
    "workload list": "workload show",
    "platform list": "platform show",
    "trace count": "trace record --count",
    "trace verify": "trace info",
    "trace events": "trace info --events",
    "mapping capture-matrix": "mapping capture --matrix",
    "mosalloc bench": "lab allocator bench",
    "mosalloc overhead": "lab allocator overhead",
    "mosalloc programs": "lab allocator programs",
    "mosalloc proof": "lab allocator proof",
    "study sampling": "lab run sampling KEY=VALUE...",
    "study ablations": "lab run ablations KEY=VALUE...",
    "study sweep": "lab run sweep KEY=VALUE...",
    "study": "lab list",
    "study window": "lab run window KEY=VALUE...",
    "study walk-cost": "lab run walk-cost KEY=VALUE...",
    "study designs": "lab run designs KEY=VALUE...",
    "study probes": "lab run probes KEY=VALUE...",
    "study recording": "lab run recording KEY=VALUE...",
    "study scenarios": "lab run scenarios KEY=VALUE...",
    "virtuoso": "lab list",
    "virtuoso program": "lab run virtuoso KEY=VALUE...",
    "virtuoso costs": "lab run virtuoso-costs KEY=VALUE...",
    "virtuoso judge": "lab run virtuoso-judge KEY=VALUE...",
    "study transfer": "lab run transfer KEY=VALUE...",
    "validate": "lab list",
    "validate engines": "lab run engines KEY=VALUE...",
    "validate closed-forms": "lab run closed-forms KEY=VALUE...",
    "validate chase": "lab run chase KEY=VALUE...",
    "validate explain": "lab run explain-chase KEY=VALUE...",
    "validate mosaics": "lab run mosaics KEY=VALUE...",
    "validate invariants": "lab run invariants KEY=VALUE...",
    "validate clock-measure": "lab run clock-measure KEY=VALUE...",
    "validate clock": "lab run clock KEY=VALUE...",
    "energy": "lab run energy KEY=VALUE...",
    "threads sweep": "lab run threads-sweep KEY=VALUE...",
    "threads fit": "lab run threads-fit KEY=VALUE...",
    "reference list": "dev reference verify",
    "numa placements": "lab run numa-placements KEY=VALUE...",
    "numa program": "lab run numa-program KEY=VALUE...",
    "numa gups": "lab run numa-gups KEY=VALUE...",
    "numa arithmetic": "lab run numa-arithmetic KEY=VALUE...",
    "numa bars": "lab run numa-bars KEY=VALUE...",
    "numa defects": "lab run numa-defects KEY=VALUE...",
    "numa judge": "lab run numa-judge KEY=VALUE...",
    "numa fragmented": "lab run numa-fragmented KEY=VALUE...",
    "numa map study": "lab run numa-maps KEY=VALUE...",
    "kernel test": "lab run kernel-test KEY=VALUE...",
    "kernel prove": "lab run kernel-prove KEY=VALUE...",
    "kernel bisect": "lab run kernel-bisect KEY=VALUE...",
    "kernel selftests-mm": "lab run kernel-selftests-mm KEY=VALUE...",
    "kernel stress-ng": "lab run kernel-stress-ng KEY=VALUE...",
    "kernel table4": "lab run kernel-table4 KEY=VALUE...",
    "kernel table5": "lab run kernel-table5 KEY=VALUE...",
    "kernel table6": "lab run kernel-table6 KEY=VALUE...",
    "kernel placement": "lab run kernel-placement KEY=VALUE...",
    "kernel balancing": "lab run kernel-balancing KEY=VALUE...",
    "faults stream templates": "lab run fault-templates KEY=VALUE...",
    "oracle compare": "lab run oracle-compare KEY=VALUE...",
    "pagetables": "lab kernel pagetables-show",
    "pagetables dump": "lab kernel pagetables-dump",
}
#: Of the group ``pipeline``; the other commands of it are in ``dev``.
_STEPS = "record prepare drop layouts select cells concat fit adaptive one-gb host machines".split()
COMMANDS |= {f"pipeline {name}": f"dev step {name} KEY=VALUE..." for name in _STEPS}


def new_name(words: Sequence[str]) -> tuple[str, str] | None:
    """(old, new) name of the command that these words begin with; None if it is none of the old ones."""
    for count in range(min(len(words), 4), 0, -1):
        old = " ".join(words[:count])
        if old in COMMANDS:
            return old, COMMANDS[old]
    if not words or words[0] not in GROUPS:
        return None
    same = list(takewhile(re.compile("[a-z][a-z0-9-]*").fullmatch, words[1:3]))
    return " ".join([words[0], *same]), " ".join([GROUPS[words[0]], *same])
