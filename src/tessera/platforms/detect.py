"""This machine as a simulated platform: CPUID's sizes over the template's assumed values.

A hypervisor can hide or falsify CPUID's numbers; they are taken as reported and say so in their source.
"""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tessera.container import toolchain
from tessera.errors import EXIT_FAILED, TesseraError
from tessera.paths import built
from tessera.platforms.model import TEMPLATE, folder, load

SOURCE = "CPUID of this machine"


def detect(out: Path) -> int:
    """Write the platform file of this machine; returns how many values CPUID gave."""
    simulator = built("simulator", "tessera-sim")
    done = toolchain().run([str(simulator), "cpuid"], capture=True, check=False)
    try:
        reported = json.loads(done.stdout)
    except ValueError:
        raise TesseraError(
            f"{simulator.name} cpuid",
            done.stderr.strip() or f"status {done.returncode}, no JSON",
            "this needs an x86-64 processor; simulate a platform of config/platforms instead",
            exit_code=EXIT_FAILED,
        ) from None
    return write_platform({k: v for k, v in reported.items() if isinstance(v, int)}, out)


def write_platform(reported: dict[str, int], out: Path) -> int:
    """Overlay ``reported`` (dotted key -> value) on the template and write ``out``; count of overlaid keys.

    A key that the template does not have is left out: the simulator has no such parameter.
    """
    tree = yaml.safe_load((folder() / f"{TEMPLATE}.yaml").read_text())
    tree["name"] = "host-sim"
    tree["description"] = "this machine, from CPUID and assumed values"
    count = sum(_overlay(tree, key.split("."), value) for key, value in reported.items())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(yaml.safe_dump(tree, sort_keys=False))
    load(out)
    return count


def _overlay(tree: dict, path: list[str], value: int) -> bool:
    node = tree
    for key in path[:-1]:
        node = node.get(key)
        if not isinstance(node, dict):
            return False
    if path[-1] not in node:
        return False
    node[path[-1]] = {"value": value, "source": SOURCE}
    return True
