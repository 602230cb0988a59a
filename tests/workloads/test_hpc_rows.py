"""Rows of gups, graph500, xsbench and Mitosis's kernels: sizes in the published ratios, memory as printed."""

from __future__ import annotations

import csv
import json
import subprocess

import pytest

from tessera.cli.pipeline import needs
from tessera.core.files import build_dir, repo_root
from tessera.core.units import GB, MB
from tessera.record import workloads

GUPS = {f"gups-{size}gb": size for size in (1, 4, 8, 16, 32)}
GRAPH500 = {"graph500-2gb": 2, "graph500-4gb": 4, "graph500-8gb": 8}
XSBENCH = {"xsbench-4gb": 4, "xsbench-8gb": 8, "xsbench-16gb": 16}
MITOSIS = ("gups", "graph500", "xsbench", "hashjoin", "btree", "canneal")
KERNELS = [*GUPS, *GRAPH500, *XSBENCH, *(f"mitosis-{name}" for name in MITOSIS)]


def footprint(name: str, size: str) -> int:
    return workloads.load_workload(name).size(size).footprint


def main_size(name: str) -> str:
    """The size of the default configurations: rows of Mitosis have far less than its 145 to 455 GB."""
    return "default" if name.startswith("mitosis-") else "published"


@pytest.mark.parametrize("family", [GUPS, GRAPH500, XSBENCH], ids=["gups", "graph500", "xsbench"])
@pytest.mark.parametrize("size", ["published", "paper"])
def test_a_family_keeps_the_published_ratios(family, size):
    first, *others = family  # a second root of graph500 adds an array of 1.5%
    for other in others:
        share = workloads.load_workload(other).size(size).share or 1
        asked = family[other] / family[first] * share
        assert footprint(other, size) / footprint(first, size) == pytest.approx(asked, rel=0.02), other


def test_the_paper_sizes_are_those_of_the_names():
    for name, size in {**GUPS, **XSBENCH}.items():
        assert footprint(name, "paper") == pytest.approx(size * GB, rel=0.005), name
    for name, size in GRAPH500.items():  # the scale doubles: no scale is nearer
        assert footprint(name, "paper") == pytest.approx(size * GB, rel=0.12), name


@pytest.mark.parametrize(("names", "slack"), [(GUPS, 0), (XSBENCH, 0.005), (GRAPH500, 0.07)])
def test_published_sizes_are_those_of_the_names_or_say_what_share_they_are(names, slack):
    for name, size in names.items():
        found = workloads.load_workload(name).size("published")
        assert found.footprint == pytest.approx(size * GB * (found.share or 1), rel=slack), name
    assert [name for name in names if workloads.load_workload(name).size("published").share] == (
        ["xsbench-16gb"] if names is XSBENCH else []
    )


def test_recorded_gups_does_not_write_its_array():
    for name in GUPS:
        size = workloads.load_workload(name).size("published")
        assert "--unwritten" in size.args and size.touched < size.footprint / 10
        assert "--unwritten" not in workloads.load_workload(name).size("paper").args


@pytest.mark.parametrize("name", [name for name in KERNELS if "xsbench" in name])
@pytest.mark.parametrize("which", ["main", "paper"])
def test_memory_of_xsbench_is_that_of_its_tables(name, which):
    size = main_size(name) if which == "main" else which
    args = workloads.load_workload(name).size(size).args
    points, particles = (int(args[args.index(option) + 1]) for option in ("--gridpoints", "--particles"))
    grid, unionized, index = 6 * 8, 8, 4 * 355  # bytes a point of a nuclide
    assert footprint(name, size) == 355 * points * (grid + unionized + index) + 16 * particles


@pytest.mark.parametrize("name", KERNELS)
def test_sizes_grow_from_tiny_to_paper(name):
    found, main = workloads.load_workload(name), main_size(name)
    assert {"tiny", main, "paper"} <= set(found.sizes)
    assert found.size("tiny").footprint < 64 * MB
    assert 100 * MB < found.size(main).footprint
    assert needs.memory_bytes(found.size(main)) <= 16 * GB
    assert found.size(main).footprint <= found.size("paper").footprint * 1.005


def test_rows_are_those_of_the_tables():
    folder = repo_root() / "reference-results"
    with (folder / "table5_workloads.csv").open() as table:
        micro20 = {line["workload"] for line in csv.DictReader(table)}
    with (folder / "opera_table4_overheads.csv").open() as table:
        opera = {line["workload"] for line in csv.DictReader(table)}
    for name in KERNELS:
        rows = workloads.load_workload(name).rows
        assert rows, name
        assert rows.get("micro20", "gups/8GB") in micro20
        assert rows.get("opera", "my_gups/1GB") in opera
        assert name.startswith("mitosis-") == ("mitosis" in rows)


@pytest.mark.parametrize("name", KERNELS)
def test_the_tiny_run_verifies_and_prints_the_footprint(name):
    found = workloads.load_workload(name)
    if not (build_dir("workloads") / found.executable).exists():
        pytest.skip(f"{found.executable} is not built: ./run tessera dev build workloads")
    done = subprocess.run(found.command("tiny"), capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["verified"] is True
    assert answer["footprint_bytes"] == found.size("tiny").footprint
