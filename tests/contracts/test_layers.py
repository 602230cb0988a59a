"""The layer rule of docs/architecture.md, checked on the tree (simulator: simulator/test_layers.py)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPONENTS = (
    "common", "counters", "faults", "imitation", "kernel-stream", "layout-format", "mosalloc", "simulator",
    "tracer", "workloads",
)  # fmt: skip


def source_files(folder):
    return [p for p in folder.rglob("*") if p.suffix in {".h", ".c", ".cpp", ".hpp", ".txt", ".py"}]


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
