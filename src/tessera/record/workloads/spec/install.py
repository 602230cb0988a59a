"""Find the user's SPEC CPU installation and the run folder of a benchmark in it.

An installation is named by ``$SPEC_CPU2006`` or ``$SPEC_CPU2017``, or once by ``tessera workload spec --root
DIR``, which remembers it in ``build/spec-roots.json``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import write_text
from tessera.core.paths import build_dir


@dataclass(frozen=True)
class Suite:
    """One release of SPEC CPU: its name, its variable, and its own words."""

    name: str
    variable: str
    benchmarks: str  #: folder of the benchmarks below the root
    setup: str  #: command that makes the run folder


SUITES = {
    "CPU2006": Suite(
        "CPU2006", "SPEC_CPU2006", "benchspec/CPU2006", "runspec --action=setup --tune=base --size"
    ),
    "CPU2017": Suite(
        "CPU2017", "SPEC_CPU2017", "benchspec/CPU", "runcpu --action=runsetup --tune=base --size"
    ),
}


def suite(name: str) -> Suite:
    """The suite of this name."""
    if name not in SUITES:
        raise unknown_name("SPEC suite", name, list(SUITES))
    return SUITES[name]


def remember(root: Path) -> list[str]:
    """Remember an installation for this checkout; returns the suites found in it."""
    root = root.absolute()
    found = [each.name for each in SUITES.values() if (root / each.benchmarks).is_dir()]
    if not found:
        folders = " and no ".join(each.benchmarks for each in SUITES.values())
        raise TesseraError(
            f"SPEC installation {root}",
            f"the folder has no {folders}",
            "give the folder into which SPEC was installed",
        )
    roots = _remembered() | dict.fromkeys(found, str(root))
    _file().parent.mkdir(parents=True, exist_ok=True)
    write_text(_file(), json.dumps(roots, indent=1) + "\n")
    return found


def root_of(wanted: Suite) -> Path:
    """The folder of the suite's installation; raises with the command that sets it."""
    given = os.environ.get(wanted.variable) or _remembered().get(wanted.name)
    remedy = (
        f"SPEC is licensed and not part of this artifact: install it, then {wanted.variable}=DIR "
        "or ./run tessera workload spec --root DIR"
    )
    if not given:
        raise TesseraError(
            f"SPEC {wanted.name}",
            f"no installation is known, and {wanted.variable} is not set",
            remedy,
            code="spec-not-supplied",
        )
    root = Path(given)
    if not (root / wanted.benchmarks).is_dir():
        raise TesseraError(f"SPEC {wanted.name}", f"{root} has no {wanted.benchmarks}", remedy)
    return root


def run_folder(wanted: Suite, benchmark: str, input_size: str) -> Path:
    """The newest run folder of the base binary with this input, which SPEC's own tools have set up."""
    folder = root_of(wanted) / wanted.benchmarks / benchmark
    if not folder.is_dir():
        raise TesseraError(
            f"SPEC {wanted.name} {benchmark}", f"{folder} does not exist", "install the whole suite"
        )
    found = sorted(
        (folder / "run").glob(f"run_base_{input_size}_*/speccmds.cmd"), key=lambda p: p.stat().st_mtime
    )
    if not found:
        size = {"refspeed": "ref", "refrate": "ref"}.get(input_size, input_size)
        raise TesseraError(
            f"SPEC {wanted.name} {benchmark}, input {input_size}",
            f"{folder}/run has no run_base_{input_size}_* with a speccmds.cmd",
            f"build it and set it up with SPEC's tools: {wanted.setup}={size} {benchmark}",
        )
    return found[-1].parent


def _file() -> Path:
    return build_dir("spec-roots.json")


def _remembered() -> dict[str, str]:
    return json.loads(_file().read_text()) if _file().exists() else {}
