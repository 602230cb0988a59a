"""This machine as a simulated platform: the template's assumed values, then what is documented of its core
generation (``config/platforms/hosts``), then what CPUID and the kernel report.

A hypervisor can hide or falsify CPUID's numbers; they are taken as reported and say so in their source.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.platforms import strict_yaml
from tessera.platforms.keys import all_keys
from tessera.platforms.model import TEMPLATE, Value, folder, leaves, load

SOURCE = "CPUID of this machine"
IN_A_GUEST = "CPUID of this machine, as its hypervisor reports it"


@dataclass(frozen=True)
class Report:
    """What the processor and the kernel say; ``values`` maps keys to reported numbers."""

    vendor: str = ""
    family: int = 0
    model: int = 0
    hypervisor: bool = False
    values: dict[str, int] = field(default_factory=dict)
    kernel: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Detected:
    """What write_platform() did."""

    from_cpuid: int
    generation: str | None  #: name of the file in ``hosts`` that knows this core
    impossible: tuple[str, ...]  #: reported values outside a key's bounds, left assumed
    defaulted: tuple[str, ...]  #: keys that the file leaves to their defaults


def detect(out: Path) -> Detected:
    """Write the platform file of this machine."""
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
    about = {k: reported.pop(k) for k in ("vendor", "family", "model", "hypervisor") if k in reported}
    values = {k: v for k, v in reported.items() if v is not None}
    cpuinfo = Path("/proc/cpuinfo")
    kernel = kernel_values(cpuinfo.read_text()) if cpuinfo.exists() else {}
    return write_platform(Report(**about, values=values, kernel=kernel), out)


def kernel_values(cpuinfo: str) -> dict[str, Value]:
    """Page-table levels, and in a guest the clock, from the text of ``/proc/cpuinfo`` (psutil has no flags).

    On bare metal its clock is the moment's, which would give a new platform at each detection.
    """
    found = re.search(r"^flags\s*:(.*)$", cpuinfo, re.M)
    flags = found[1].split() if found else []
    clock = re.search(r"^cpu MHz\s*: (\d+)\.(\d{3})", cpuinfo, re.M)
    values = {}
    if clock and "hypervisor" in flags:
        hz = int(clock[1]) * 1_000_000 + int(clock[2]) * 1_000
        values["core.frequency_hz"] = Value(hz, "cpu MHz in /proc/cpuinfo of this virtual machine")
    if flags:
        levels = 5 if "la57" in flags else 4
        values["page_table.levels"] = Value(levels, "la57 flag in /proc/cpuinfo of this machine")
    return values


def write_platform(report: Report, out: Path) -> Detected:
    """Overlay template, generation, kernel and CPUID, in this order, and write ``out``.

    A reported number outside its key's bounds is left out.
    """
    template = strict_yaml.read(folder() / f"{TEMPLATE}.yaml", "platform template")
    generation = generation_of(report)
    layers = [generation_values(generation) if generation else {}, report.kernel]
    source = IN_A_GUEST if report.hypervisor else SOURCE
    known = all_keys()
    possible = {k: v for k, v in report.values.items() if k in known and not known[k].rule_broken_by(v)}
    layers.append({k: Value(v, source) for k, v in possible.items()})
    for layer in layers:
        for key, value in layer.items():
            _put(template, key.split("."), value)
    template["name"] = "host-sim"
    core = f" ({generation.stem})" if generation else ""
    template["description"] = f"this machine{core}: CPUID over documented and assumed values"
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, yaml.safe_dump(template, sort_keys=False, width=1000))
    written = load(out)
    impossible = tuple(f"{k} = {v}" for k, v in report.values.items() if k in known and k not in possible)
    defaulted = tuple(key for key, value in written.values.items() if value.defaulted)
    return Detected(len(possible), generation.stem if generation else None, impossible, defaulted)


def generation_of(report: Report) -> Path | None:
    """The file of ``hosts`` that lists this vendor, family and model."""
    for path in sorted((folder() / "hosts").glob("*.yaml")):
        tree = strict_yaml.read(path, "core generation")
        if tree["vendor"] == report.vendor and [report.family, report.model] in tree["models"]:
            return path
    return None


def generation_values(path: Path) -> dict[str, Value]:
    """Documented and assumed values of a core generation."""
    return leaves(strict_yaml.read(path, "core generation")["values"], path)


def _put(tree: dict, path: list[str], value: Value) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = {"value": value.value, "source": value.source}
