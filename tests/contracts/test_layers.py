"""The layer rule of docs/architecture.md, checked on the tree itself."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = ROOT / "artifacts" / "simulator" / "src"
#: a folder may include itself and folders of a lower level
LEVEL = {
    "base": 0, "branch": 1, "cache": 1, "pagetable": 1, "tlb": 1, "os": 2, "mmu": 3, "engine": 4, "cli": 5,
}  # fmt: skip
COMPONENTS = (
    "common", "counters", "faults", "imitation", "kernel-stream", "layout-format", "mosalloc", "simulator",
    "tracer", "workloads",
)  # fmt: skip


def source_files(folder):
    return [p for p in folder.rglob("*") if p.suffix in {".h", ".c", ".cpp", ".hpp", ".txt", ".py"}]


def simulator_includes():
    for path in source_files(SIMULATOR):
        for name in re.findall(r'#include "([^"]+)"', path.read_text()):
            folder = name.split("/")[0]
            if folder in LEVEL and "/" in name:
                yield path.relative_to(SIMULATOR), folder


def test_simulator_includes_go_downward():
    found = list(simulator_includes())
    assert len(found) > 10
    for path, included in found:
        own = path.parts[0]
        assert own == included or LEVEL[included] < LEVEL[own], f"{path} includes {included}/"


def test_every_simulator_folder_has_a_level():
    assert {p.name for p in SIMULATOR.iterdir() if p.is_dir()} <= set(LEVEL)


@pytest.mark.parametrize("component", COMPONENTS)
def test_components_do_not_know_what_is_above_them(component):
    for path in source_files(ROOT / "artifacts" / component):
        text = path.read_text(errors="replace")
        for word in ("src/tessera", "snakemake", "Snakefile", "import tessera"):
            assert word not in text, f"{path} mentions {word}"


def test_package_does_not_know_the_workflow():
    for path in (ROOT / "src" / "tessera").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) snakemake", path.read_text(), re.MULTILINE), path


def test_only_the_container_package_calls_docker():
    for path in (ROOT / "src" / "tessera").rglob("*.py"):
        if "container" not in path.parts and "doctor" not in path.parts:
            assert not re.search(r"""["']docker["'], *["']run["']""", path.read_text()), path
