"""What users do, one thing after the other: each start makes again what it must and nothing else, and the
results are those of one fresh run. The steps are stubs; their outputs say what they were made of (the stub
says how).
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from .stub_checkout import COPIED, Checkout, kinds

pytestmark = pytest.mark.slow
RETRY = {"TESSERA_RETRY": "1"}  # as `./run` does
RESERVED = RETRY | {"TESSERA_RESERVE": "1"}
CHECK = {"report check"}
SHOWN = CHECK | {"report render"}
#: What follows from any cells, besides models.
COLLECTED = SHOWN | {"dev step concat", "lab run energy", "lab run invariants", "dev notebooks run"}
MODELS = COLLECTED | {"models collect"}


def state(results: Path) -> dict[str, bytes]:
    """All results by name, but what says how long something took."""
    files = [path for path in results.rglob("*") if path.is_file()]
    left_out = {"logs", "benchmarks", "timeline.csv"}
    return {str(p.relative_to(results)): p.read_bytes() for p in files if not left_out.intersection(p.parts)}


def different(one: dict, other: dict) -> set[str]:
    """Names of what is in one state only, or not the same."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Checkout:
    """A checkout where one start made everything, without huge pages; its path has spaces."""
    checkout = Checkout(tmp_path_factory.mktemp("fresh") / "a folder with spaces", "smoke")
    checkout.made = kinds(checkout.steps("smoke"))
    checkout.first = state(checkout.results)
    return checkout


@pytest.fixture
def world(fresh) -> Checkout:
    """The same, as it was after that start; a test that changes it brings it back."""
    yield fresh
    assert different(state(fresh.results), fresh.first) == set()


def edited(path: Path, text: str):
    """Append to a file; returns what was in it."""
    before = path.read_bytes()
    path.write_bytes(before + text.encode())
    return before


def test_neither_times_nor_documents_make_anything_again(world):
    """As `git checkout` of another commit and back does, or `git pull` of new documents."""
    for name in COPIED:
        for path in (world.folder / name, *(world.folder / name).rglob("*")):
            os.utime(path)
    edited(world.folder / "artifacts" / "simulator" / "README.md", "\nmore\n")
    edited(world.folder / "artifacts" / "simulator" / "tests" / "platform_test.cpp", "\n// more\n")
    (world.folder / "docs").mkdir()
    (world.folder / "docs" / "new.md").write_text("new\n")
    assert kinds(world.steps("smoke", **RETRY)) == CHECK


def test_what_is_built_again_from_the_same_sources_makes_nothing_again(world):
    stamps = [str(path.relative_to(world.folder)) for path in (world.folder / "build").glob("*-*.stamp")]
    shutil.rmtree(world.folder / "build")
    assert kinds(world.steps("smoke", **RETRY)) == CHECK
    assert len(kinds(world.steps(*stamps))) == len(stamps) == 6
    assert kinds(world.steps("smoke", **RETRY)) == CHECK


def test_a_copy_in_another_folder_makes_nothing_again(world, tmp_path):
    """Digests have no path of the checkout; Snakemake's notes and the times of files come along."""
    moved = Checkout(tmp_path / "moved", "smoke", of=world.folder)
    for name in ("build", "results", ".snakemake"):
        shutil.copytree(world.folder / name, moved.folder / name)
    assert kinds(moved.steps("smoke", **RETRY)) == CHECK
    assert different(state(moved.results), world.first) == set()


def test_a_changed_model_is_fitted_again_and_nothing_is_simulated(world):
    path = world.folder / "src" / "tessera" / "fit" / "models" / "anchors.py"
    before = edited(path, "\nCHANGED = True\n")
    fitting = {"dev step fit", "dev step adaptive", "dev step one-gb", "dev step machines"}
    studies = {f"lab run {name}" for name in ("ablations", "sweep", "transfer", "transfer-verdicts")}
    shown = SHOWN | {"models collect", "dev notebooks run"}
    expected = fitting | studies | shown
    assert kinds(world.steps("smoke", **RETRY)) == expected
    changed = different(state(world.results), world.first)
    folders = {name.split("/")[0] for name in changed}
    assert folders == {"models", "studies", "machines", "report", "claims.csv"}
    path.write_bytes(before)
    assert kinds(world.steps("smoke", **RETRY)) == expected


def test_a_changed_page_is_rendered_again_and_nothing_else(world):
    path = world.folder / "src" / "tessera" / "report" / "figures" / "curves.py"
    before = edited(path, "\nCHANGED = True\n")
    assert kinds(world.steps("smoke", **RETRY)) == SHOWN
    path.write_bytes(before)


def test_a_changed_platform_simulates_its_own_pairs(world):
    path = world.folder / "config" / "platforms" / "broadwell-sim.yaml"
    before = edited(path, "# changed\n")
    expected = MODELS | {
        "dev step layouts", "dev step cells", "dev step fit", "dev step adaptive", "dev step one-gb",
        "lab run engines", "lab run closed-forms",
    }  # fmt: skip
    steps = world.steps("smoke", **RETRY)
    assert kinds(steps) == expected
    own = [line for line in steps if line.startswith("dev step") and "concat" not in line]
    assert own and all("broadwell-sim" in line and "sandybridge-sim" not in line for line in own)
    changed = different(state(world.results), world.first)
    assert changed.isdisjoint(
        name for name in world.first if "sandybridge" in name or name.startswith("traces")
    )
    path.write_bytes(before)
    assert kinds(world.steps("smoke", **RETRY)) == expected


def test_a_changed_simulator_records_nothing(world):
    """Everything that it counts is made again: there the cache of cells says what is still right."""
    path = world.folder / "artifacts" / "simulator" / "src" / "tlb" / "array.h"
    before = edited(path, "// changed\n")
    steps = world.steps("smoke", **RETRY)
    not_simulated = {
        "dev build mosalloc", "dev build tracer", "dev build workloads", "dev build imitation",
        "dev build --image",
        "dev step record", "lab run chase", "lab run clock-measure", "lab allocator overhead",
        "dev reference compare", "lab run window", "lab run recording", "lab run known-recordings",
        "dev step machines",
    }  # fmt: skip
    assert kinds(steps) == world.made - not_simulated
    path.write_bytes(before)
    assert kinds(world.steps("smoke", **RETRY)) == kinds(steps)


def test_another_engine_makes_its_own_programs_and_all_that_they_do(world):
    none = RETRY | {"TESSERA_ENGINE": "none"}
    same = {"dev build --image", "dev reference compare", "dev step machines"}
    steps = world.steps("smoke", **none)
    assert world.made - kinds(steps) == same
    assert kinds(world.steps("smoke", **RETRY)) == world.made - same


@pytest.mark.parametrize(
    ("failing", "file", "again"),
    [
        (
            "dev step cells graph500 broadwell", "cells/graph500/broadwell-sim.csv",
            MODELS | {"dev step cells", "dev step fit", "dev step adaptive", "dev step one-gb"},
        ),
        (
            "lab run ablations", "studies/ablations/gups/sandybridge-sim/shapes.csv",
            SHOWN | {"lab run ablations"},
        ),
    ],
    ids=["cells", "study"],
)  # fmt: skip
def test_a_failed_row_is_kept_until_it_is_tried_again(world, failing, file, again):
    (world.results / file).unlink()
    (world.results / "report" / "index.html").unlink()
    world.steps("smoke", STUB_FAIL=failing)
    assert "failed" in (world.results / file).read_text()
    assert kinds(world.steps("smoke")) == CHECK  # snakemake itself keeps it
    assert kinds(world.steps("smoke", **RETRY)) == again


def test_huge_pages_later_or_first_give_the_same(fresh, tmp_path):
    """What was skipped is measured once there are pages; what was measured stays when there are none."""
    first = Checkout(tmp_path, "smoke", of=fresh.folder)
    first.steps("smoke", **RESERVED)
    expected = state(first.results)
    assert kinds(first.steps("smoke", **RETRY)) == CHECK
    assert different(state(first.results), expected) == set()

    again = MODELS | {
        "lab run chase", "lab run explain-chase", "lab run clock-measure", "lab run clock",
        "dev step cells", "dev step host", "lab run mosaics", "dev step one-gb",
    }  # fmt: skip
    assert kinds(fresh.steps("smoke", **RESERVED)) == again
    assert different(state(fresh.results), expected) == set()
    assert kinds(fresh.steps("smoke", **RESERVED)) == CHECK


def test_a_kill_in_each_step_and_the_next_start_goes_on(fresh, tmp_path):
    """The first step of each kind kills the run while its output is half written."""
    checkout, killed = Checkout(tmp_path / "checkout", "smoke", of=fresh.folder), tmp_path / "killed"
    killed.mkdir()
    for start in range(len(fresh.made) + 1):
        status, said = checkout.run("smoke", STUB_KILL=str(killed), **RESERVED)
        if status == 0:
            break
        assert status == -signal.SIGKILL, said[-3000:]
        assert len(list(killed.iterdir())) >= start + 1
    assert status == 0 and {path.name for path in killed.iterdir()} == fresh.made
    fresh.steps("smoke", **RESERVED)  # what it lacks, if no test before this one had huge pages
    expected = state(fresh.results)
    assert different(state(checkout.results), expected) == set()
