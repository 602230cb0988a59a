"""The command: failures become rows, P can be changed, tables of workloads are collected and judged."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import study as command
from tessera.cli.pipeline.failures import failures
from tessera.core.errors import TesseraError
from tessera.core.results import transfer_tables as schema
from tessera.core.results.tree import Tree
from tessera.lab.transfer import runs, study
from tessera.lab.transfer.classes import chosen
from tessera.lab.transfer.runs import Units
from tessera.simulate.sampling import Intervals
from tests.studies.transfer import world


def info(folder: Path, status: str = "ok") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "info.json"
    path.write_text(json.dumps({"workload": folder.name, "status": status, "message": "disk full"}))
    return path


@pytest.fixture
def made_up(monkeypatch):
    """Everything below the tables of a workload, without a trace."""
    monkeypatch.setattr(runs, "simulate", world.fake_simulate)
    monkeypatch.setattr(
        study, "random_layouts", lambda *of: (world.files(world.NEW), world.files(world.MOSAICS))
    )
    monkeypatch.setattr(
        study, "units_of", lambda *of: Units(Intervals.of([]), world.UNIT_COUNT, 999, 99, 1, 1000)
    )
    monkeypatch.setattr(study.placements, "chosen_layouts", lambda *of: world.files(world.LAYOUTS))
    made = study.placements.Made({"medium": Path("medium.csv")}, [{"touched_pages": 50}])
    monkeypatch.setattr(study.placements, "make_mappings", lambda *of: made)


def test_a_failed_recording_is_a_row_that_the_next_run_tries_again(tmp_path):
    tree = Tree(tmp_path)
    out = tree.transfer_of("gups", "haswell-sim", "points").parent
    job = study.Job(
        info(tmp_path / "gups", "failed"), tmp_path / "manifest.csv", "haswell-sim", tmp_path / "cache", out,
        chosen(["K0"]),
    )  # fmt: skip
    points = study.transfer_study(job)
    assert points["status"].tolist() == ["failed"] and "disk full" in points["message"][0]
    assert all((out / table.file).is_file() for table in schema.PARTS)
    (found,) = failures(tmp_path, reserve=False)
    assert found.path == out / "points.csv" and len(found.beside) == len(schema.PARTS) - 1
    judged = study.collect([out], tmp_path / "all")
    assert (judged["judged"].fillna(0) == 0).all()


def test_two_workloads_are_judged_together(made_up, tmp_path):
    arguments = [
        "transfer",
        "--platform",
        "haswell-sim",
        "--variants",
        "noop,stlb-x2,walkers-x2",
        "--no-ladders",
    ]
    for name in ("one", "two"):
        arguments += ["--info", str(info(tmp_path / name)), "--manifest", "m.csv"]
    out = tmp_path / "out"
    arguments += [
        "--mappings",
        "medium",
        "--models",
        "yaniv,poly1",
        "--set",
        "core.mshrs=5",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    verdicts = pd.read_csv(out / "verdicts.csv").set_index(["inputs", "group", "model"])
    row = verdicts.loc[("counted", "K1", "poly1")]
    assert (row["verdict"], row["workloads"], row["coverage"]) == ("survives", 2, 1)
    assert set(verdicts["platform"]) == {"haswell-sim core.mshrs=5"}
    widths = pd.read_csv(out / "widths.csv")
    assert set(widths["workload"]) == {"one", "two"} and widths["half_width"].notna().all()
    again = study.collect([out / name / "haswell-sim" for name in ("one", "two")], tmp_path / "again")
    assert len(again) == len(verdicts)


def test_wrong_requests_are_refused(tmp_path):
    for arguments in (
        ["--out", "o"],
        ["--out", "o", "--info", "i", "--collect", "c"],
        ["--out", "o", "--info", "i", "--platform", "haswell-sim"],
        [
            "--out",
            "o",
            "--info",
            "i",
            "--manifest",
            "m",
            "--platform",
            "haswell-sim",
            "--variants",
            "stlb-x3",
        ],
    ):
        done = CliRunner().invoke(command, ["transfer", *arguments])
        assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 2
    with pytest.raises(TesseraError):
        study.collect([tmp_path], tmp_path / "out")
