"""``tessera lab numa map expect`` and ``compare``; ``capture`` refuses what a guest cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.lab.numa.placement_map import DATA, TABLE, read_map

DATA_FOLDER = Path(__file__).parent / "data"


@pytest.fixture
def touches(tmp_path):
    """First touches of 1200 pages of the anonymous pool, and of one of the heap."""
    path = tmp_path / "touches.csv"
    pages = "".join(f"mmap,{page},{page + 1}\n" for page in range(1200))
    path.write_text(f"pool,page,access\nbrk,9,0\n{pages}")
    return path


def run(*words):
    return CliRunner().invoke(cli, ["lab", "numa", "map", *map(str, words)])


def test_expect_writes_a_map(touches, tmp_path):
    done = run("expect", "--touches", touches, "--mitosis", "LP-RD", "--out", tmp_path / "map.csv")
    assert done.exit_code == 0, done.output
    assert "first 1201 of 1201 touches" in done.output
    found = read_map(tmp_path / "map.csv")
    assert found.units(DATA, 1)[1].tolist() == [1] * 1201
    assert found.units(TABLE, 1)[1].tolist() == [0] * 4  # 1 of the heap, 3 for 1200 pages


def test_begin_and_end_of_a_capture(touches, tmp_path):
    words = ["--begin", DATA_FOLDER / "guest-rp-ld-begin.csv", "--as-far-as", DATA_FOLDER / "guest-rp-ld.csv"]
    done = run("expect", "--touches", touches, "--mitosis", "RP-LD", *words, "--out", tmp_path / "map.csv")
    assert "first 1211 of 1211 touches" in done.output  # 10 pages before; page 9 of the heap is none of them


def test_compare_says_equal_or_different(tmp_path):
    same = run("compare", DATA_FOLDER / "guest-rp-ld.csv", DATA_FOLDER / "guest-rp-ld.csv")
    assert same.exit_code == 0 and "EQUAL" in same.output
    other = run("compare", DATA_FOLDER / "guest-rp-ld.csv", DATA_FOLDER / "guest-lp-rd.csv")
    assert other.exit_code == 1
    assert "DIFFERENT: 8221 " in other.output  # 8202 pages, 17 and 2 tables


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["capture", "--workload", "mitosis-gups", "--mitosis", "auto"], "numa-map-rule"),
        (["capture", "--workload", "mitosis-gups", "--mitosis", "RPI-LD"], None),
        (["capture", "--workload", "mitosis-redis", "--mitosis", "LP-LD"], None),
        (["capture", "--workload", "none", "--mitosis", "LP-LD"], None),
    ],
)
def test_capture_refuses_before_it_builds(words, code, tmp_path, monkeypatch):
    monkeypatch.setattr("tessera.record.workloads.kinds.kernel.built", lambda *name: Path("/bin/true"))
    done = run(*words, "--out", tmp_path / "map.csv")
    assert isinstance(done.exception, TesseraError), done.output
    assert code is None or done.exception.code == code
    assert not (tmp_path / "map.csv").exists()


def test_expect_refuses_a_wrong_split(touches, tmp_path):
    done = run(
        "expect", "--touches", touches, "--mitosis", "auto", "--split", "x", "--out", tmp_path / "map.csv"
    )
    assert isinstance(done.exception, TesseraError) and "blocks" in str(done.exception)
