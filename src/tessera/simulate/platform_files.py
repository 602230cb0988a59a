"""Platform files and the simulator: list what they can name, check one, detect this machine as one."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tessera.core.configuration_files import Document
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, with_names, write_text
from tessera.core.platforms import (
    PLATFORM_FILE,
    TEMPLATE,
    Platform,
    Value,
    all_keys,
    leaves,
    load_platform,
    platforms_folder,
)
from tessera.machine.container import toolchain

# ``tessera platform show``: the components that platform files can name.


def components_text() -> str:
    """Components that platform files can name, from the built simulator; else why they are not listed."""
    return "\n".join(_components()) + "\n"


def _components() -> list[str]:
    try:
        done: subprocess.CompletedProcess[str] = toolchain().run(
            [built("simulator", "tessera-sim"), "list"], capture=True
        )
    except TesseraError as error:
        return [f"components of platform files: not listed ({error.found}); {error.remedy}"]
    lines, kind = ["components that a platform file names, by kind:"], ""
    for row in csv.DictReader(done.stdout.splitlines()):
        if row["kind"] == "engines":
            continue
        if row["kind"] != kind:
            kind = row["kind"]
            lines.append(f"  {kind}:")
        keys = f" (keys of its own: {row['keys']})" if row["keys"] else ""
        lines.append(f"    {row['name']:16} {row['sentence']}{keys}")
    return lines


# ``tessera platform check``: all checks of a platform file that need no simulation.
#
# Keys, bounds, types and sources are checked here; rules between keys and the names of components by
# ``tessera-sim check``, which reads the file as a simulation does.


def check_platform(name_or_path: str | Path) -> tuple[Platform, tuple[str, ...]]:
    """The platform and the simulator's remarks, one per line; raises if the simulator rejects the platform.

    Remarks are on components' own keys: `default: <key> = <value> (<source>)` for one that was left out,
    `not in use: <section>` for a section of a component that this platform does not name.

    Raises:
        TesseraError: what load() refuses, what the simulator refuses (in its words), or a simulator
            that is not built.
    """
    platform = load_platform(name_or_path)
    simulator = built("simulator", "tessera-sim")
    with tempfile.TemporaryDirectory(prefix="tessera-platform-") as name:
        flat = Path(name) / f"{platform.name}.flat"
        flat.write_text(platform.flat())
        argv = [str(simulator), "check", "--platform", str(flat)]
        done = toolchain().run(argv, paths=[flat.parent], capture=True, check=False)
    if done.returncode:
        raise simulator_refusal(
            f"platform {name_or_path}", done.returncode, with_names(done.stderr, {flat: name_or_path})
        )
    *remarks, _ = done.stdout.splitlines()
    return platform, tuple(remarks)


def simulator_refusal(asked: str, status: int, stderr: str) -> TesseraError:
    """The simulator's ``tessera-sim: asked: found\\n  what to do: remedy`` as an error of ours."""
    found, _, remedy = stderr.strip().removeprefix("tessera-sim: ").partition("\n  what to do: ")
    return TesseraError(
        asked, found or f"tessera-sim exited with status {status}", remedy or "report this as a bug"
    )


# This machine as a simulated platform: the template's assumed values, then what is documented of its core
# generation (``config/platforms/hosts``), then what CPUID and the kernel report.
#
# A hypervisor can hide or falsify CPUID's numbers; they are taken as reported and say so in their source.

DETECTED_SOURCE = "CPUID of this machine"
GENERATION_FILE = Document("core generation", "core-generation", "see docs/howto/add-a-platform.md")
IN_A_GUEST = "CPUID of this machine, as its hypervisor reports it"


@dataclass(frozen=True)
class DetectionReport:
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


def detect_platform(out: Path) -> Detected:
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
    kernel = cpuinfo_values(cpuinfo.read_text()) if cpuinfo.exists() else {}
    return write_detected_platform(DetectionReport(**about, values=values, kernel=kernel), out)


def cpuinfo_values(cpuinfo: str) -> dict[str, Value]:
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


def write_detected_platform(report: DetectionReport, out: Path) -> Detected:
    """Overlay template, generation, kernel and CPUID, in this order, and write ``out``.

    A reported number outside its key's bounds is left out.
    """
    template = PLATFORM_FILE.read(platforms_folder() / f"{TEMPLATE}.yaml")
    generation = generation_of(report)
    layers = [generation_values(generation) if generation else {}, report.kernel]
    source = IN_A_GUEST if report.hypervisor else DETECTED_SOURCE
    known = all_keys()
    possible = {k: v for k, v in report.values.items() if k in known and not known[k].rule_broken_by(v)}
    layers.append({k: Value(v, source) for k, v in possible.items()})
    for layer in layers:
        for key, value in layer.items():
            _put_value(template, key.split("."), value)
    template["name"] = "host-sim"
    core = f" ({generation.stem})" if generation else ""
    template["description"] = f"this machine{core}: CPUID over documented and assumed values"
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, yaml.safe_dump(template, sort_keys=False, width=1000))
    written = load_platform(out)
    impossible = tuple(f"{k} = {v}" for k, v in report.values.items() if k in known and k not in possible)
    defaulted = tuple(key for key, value in written.values.items() if value.defaulted)
    return Detected(len(possible), generation.stem if generation else None, impossible, defaulted)


def generation_of(report: DetectionReport) -> Path | None:
    """The file of ``hosts`` that lists this vendor, family and model."""
    for path in sorted((platforms_folder() / "hosts").glob("*.yaml")):
        tree = GENERATION_FILE.read(path)
        if tree["vendor"] == report.vendor and [report.family, report.model] in tree["models"]:
            return path
    return None


def generation_values(path: Path) -> dict[str, Value]:
    """Documented and assumed values of a core generation."""
    return leaves(GENERATION_FILE.read(path)["values"], path)


def _put_value(tree: dict, path: list[str], value: Value) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = {"value": value.value, "source": value.source}
