"""Table 6's question as a ratio of instructions: does a whole run cost more with replicas?

The paper times GUPS and Redis, initialisation included, with everything on the socket that runs them. Here a
program runs on one processor whose memory is on its own node, and each instruction counts, the kernel's too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from tessera import reference
from tessera.kernel.experiments.scripts import CONFIGS, failed
from tessera.kernel.guest import GuestProgram, run_in_guest
from tessera.kernel.machine import Machine
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import TABLE6_COUNTS
from tessera.results.write import frame_of

#: Programs of the guest, sized to one node's memory: GUPS is the paper's, btree in the place of Redis.
PROGRAMS = {
    "gups": "gups --mode update --size 64MB --reads 2000000",
    "btree": "btree --elements 200000 --lookups 100000",
}
#: Our program -> the same one in Table 6, whose overhead is in per cent of time.
PRINTED_QUANTITY = {"gups": "overhead_gups"}

_SCRIPT = "{wrapper} countrun {command} > /out/{name} 2> /out/{name}.count || exit\n"


def measure(tools: Toolchain, config: str, program: GuestProgram, out: Path) -> pd.DataFrame:
    """Instructions of whole runs of :data:`PROGRAMS` for one of ``scripts.CONFIGS``."""
    _, begin, wrapper, copies = CONFIGS[config]
    script = begin + "".join(
        _SCRIPT.format(wrapper=wrapper, command=command, name=name) for name, command in PROGRAMS.items()
    )
    machine = Machine(nodes=4, cpus=1, memory_mb=2048, icount=True)
    done = run_in_guest(tools, program, script, out, machine=machine, timeout_seconds=1800)
    rows = []
    for name in PROGRAMS:
        counted = re.search(r"^instructions (\d+)$", done.text(f"{name}.count"), re.MULTILINE)
        if done.status != 0 or counted is None or '"verified":true' not in done.text(name).replace(" ", ""):
            raise failed(f"a whole run of {name}, {config}", done)
        rows.append((name, config, copies, int(counted.group(1)), "measured"))
    return frame_of(TABLE6_COUNTS, rows)


def table6(measured: pd.DataFrame) -> pd.DataFrame:
    """One row a program: instructions off and replicated, overhead in per cent, and the paper's (of time)."""
    wide = measured.pivot_table(index="program", columns="config", values="instructions", sort=False)
    table = pd.DataFrame(
        {
            "off_instructions": wide["off"],
            "replicated_instructions": wide["replicated"],
            "overhead_percent": 100 * (wide["replicated"] / wide["off"] - 1),
            "provenance": "measured",
        }
    )
    table["published_overhead_percent"] = [_printed(name) for name in table.index]
    return table.reset_index()


def _printed(program: str) -> float:
    if program not in PRINTED_QUANTITY:
        return float("nan")
    return reference.lookup("mitosis_values", {"quantity": PRINTED_QUANTITY[program]})
