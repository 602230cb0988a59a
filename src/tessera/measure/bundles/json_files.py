"""The JSON files of a bundle, compared with ``workflow/schemas/bundle-*.schema.json``.

Their readers raise a TesseraError if a key is unknown, missing or given twice, or a value is not of its kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from tessera.core.configuration_files import Document
from tessera.core.errors import EXIT_FAILED
from tessera.measure.bundles import file_format
from tessera.measure.bundles.bundle import About, MeasuredMachine, MeasuredWorkload

SCHEMA = 1
REGIONS = ("roi", "program", "whole")
COUNTERS = ("launcher", "perf")

_ABOUT, _MACHINE, _WORKLOADS = (
    Document("bundle,", f"bundle-{name}", file_format.REMEDY, code="bundle", exit_code=EXIT_FAILED)
    for name in ("about", "machine", "workloads")
)


def read_about(data: bytes) -> About:
    """``bundle.json``."""
    found = _ABOUT.parse(data, file_format.ABOUT_FILE)
    return About(**{"class_name" if key == "class" else key: value for key, value in found.items()})


def about_text(about: About) -> str:
    found = {"class" if key == "class_name" else key: value for key, value in asdict(about).items()}
    return _text(found, read_about)


def read_machine(data: bytes) -> MeasuredMachine:
    """``machine.json``."""
    found = _MACHINE.parse(data, file_format.MACHINE_FILE)
    leaves = tuple(tuple(int(part, 16) for part in leaf) for leaf in found["cpuid"])
    return MeasuredMachine(**found | {"cpuid": leaves})


def machine_text(machine: MeasuredMachine) -> str:
    found = asdict(machine) | {"cpuid": [[hex(part) for part in leaf] for leaf in machine.cpuid]}
    return _text(found, read_machine)


def read_workloads(data: bytes) -> dict[str, MeasuredWorkload]:
    """``workloads.json``."""
    return {
        name: MeasuredWorkload(name, **entry | {"arguments": tuple(entry["arguments"])})
        for name, entry in _WORKLOADS.parse(data, file_format.WORKLOADS_FILE).items()
    }


def workloads_text(workloads: dict[str, MeasuredWorkload]) -> str:
    found = {}
    for name, one in workloads.items():
        found[name] = {key: value for key, value in asdict(one).items() if key != "name"}
        found[name]["arguments"] = list(one.arguments)
    return _text(found, read_workloads)


def _text(found: dict, read: Callable) -> str:
    text = json.dumps(found, indent=1, ensure_ascii=True) + "\n"
    read(text.encode())
    return text
