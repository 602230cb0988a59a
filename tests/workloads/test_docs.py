"""add-a-workload.md and spec-and-parsec.md: each console command runs, in a checkout made for the test."""

from __future__ import annotations

import re
import shutil

import pytest

from tessera.core.files import build_dir
from tessera.record import workloads
from tessera.record.workloads.kinds import KINDS
from tests.docs import pages

PAGES = ("add-a-workload.md", "spec-and-parsec.md")
BUILT = {
    "mosalloc": ("libmosalloc.so", "mosalloc-run"),
    "tracer": ("libtessera-trace.so", "libtessera-trace-launch.so", "tessera-trace"),
}


@pytest.fixture
def checkout(root, tmp_path):
    """A copy of what the commands need, so that what they write is not left in this checkout."""
    copy = tmp_path / "checkout"
    for folder in ("config", "docker", "examples", "docs"):
        shutil.copytree(root / folder, copy / folder)
    for component, names in BUILT.items():
        (copy / "build" / component).mkdir(parents=True)
        for name in names:
            if not (build_dir(component) / name).exists():
                pytest.skip(f"{name} is not built: ./run tessera dev build {component}")
            shutil.copy2(build_dir(component) / name, copy / "build" / component)
    images = root / "build" / "images"  # an image counts only with its manifest
    if images.is_dir():
        shutil.copytree(images, copy / "build" / "images")
    return copy


def run_page(checkout, page: str, tmp_path, part: str = "") -> list[str]:
    """Run the commands of a page, or of a part of it, in order; their outputs."""
    outputs = []
    for line in pages.typed(page, part, ("console",)):
        outputs.append(pages.shell(line.replace("/tmp/", f"{tmp_path}/"), checkout, TESSERA_ROOT=checkout))
        assert "failed:" not in outputs[-1], line  # a step of the pipeline exits 0
    return outputs


@pytest.mark.toolchain
def test_commands_of_adding_a_workload(checkout, tmp_path):
    outputs = run_page(checkout, PAGES[0], tmp_path)
    assert len(outputs) == 8
    assert (
        sum("2.0 M accesses recorded" in text for text in outputs) == 2
    )  # a program, and a script's program
    assert sum('"verified": true' in text for text in outputs) == 2


@pytest.mark.toolchain
def test_commands_of_spec(checkout, tmp_path, spec_installation, monkeypatch):
    monkeypatch.delenv("SPEC_CPU2006", raising=False)
    spec_installation(tmp_path / "cpu2006", "429.mcf")
    found, result = run_page(checkout, PAGES[1], tmp_path, "SPEC CPU")
    assert found.startswith("CPU2006 at ")
    assert '"verified_by": "2 expected outputs"' in result


def test_every_spec_row_is_in_the_table():
    rows = re.findall(r"^\| `(spec[0-9a-z-]+)` \| (\S+) \|.* \| (.*) \|$", pages.text(PAGES[1]), re.MULTILINE)
    assert {name for name, *_ in rows} == {
        name for name in workloads.workload_names() if name.startswith("spec")
    }
    for name, benchmark, stand_in in rows:
        assert workloads.load_workload(name).executable == benchmark
        if stand_in != "none":
            short = benchmark.split(".")[1]
            assert workloads.load_workload(stand_in.strip("`")).stand_in_for.endswith(short)


def test_every_kind_is_named():
    (row,) = re.findall(r"^\| `kind` \| how it is run: (.*?) \|$", pages.text("commands.md"), re.MULTILINE)
    assert set(re.findall(r"\w+", row)) - {"default", "or"} == set(KINDS)
