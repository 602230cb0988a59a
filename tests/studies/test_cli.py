"""`tessera study`: help that teaches, failures as rows."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import study
from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.table_io import frame_of, write_table


def run(*words):
    return CliRunner().invoke(study, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.parametrize("name", ["window", "sampling", "ablations", "sweep"])
def test_help_teaches(name):
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert "--info" in shown.output and "--out" in shown.output
    assert name == "window" or "Example" in shown.output


@pytest.fixture
def failed_recording(tmp_path):
    (tmp_path / "info.json").write_text(
        json.dumps({"workload": "made", "size": "tiny", "status": "failed", "message": "QEMU-7"})
    )
    layouts = [{"layout": "growing-0", "pages_2mb": 0}, {"layout": "growing-8", "pages_2mb": 9}]
    write_table(MANIFEST, frame_of(MANIFEST, layouts), tmp_path / "manifest.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "out"), [("sampling", "errors.csv"), ("ablations", "shapes.csv"), ("sweep", "sweep.csv")]
)
def test_a_failed_recording_is_a_failed_row_and_the_command_succeeds(failed_recording, name, out):
    folder = failed_recording
    shown = run(
        name, "--info", folder / "info.json", "--manifest", folder / "manifest.csv",
        "--platform", "haswell-sim", "--out", folder / "o" / out,
    )  # fmt: skip
    assert shown.exit_code == 0
    table = pd.read_csv(folder / "o" / out)
    assert table["status"].tolist() == ["failed"] and "QEMU-7" in table["message"].iloc[0]
    assert table["workload"].tolist() == ["made"] and table["platform"].tolist() == ["haswell-sim"]


def test_a_layout_that_is_not_there_names_those_that_are(failed_recording):
    folder = failed_recording
    info = json.loads((folder / "info.json").read_text()) | {"status": "ok"}
    (folder / "info.json").write_text(json.dumps(info))
    run(
        "ablations", "--info", folder / "info.json", "--manifest", folder / "manifest.csv",
        "--platform", "haswell-sim", "--layouts", "growing-0,growing-9", "--out", folder / "shapes.csv",
    )  # fmt: skip
    message = pd.read_csv(folder / "shapes.csv")["message"].iloc[0]
    assert "growing-9" in message and "growing-0, growing-8" in message


def test_an_empty_manifest_is_a_failed_row(failed_recording):
    folder = failed_recording
    (folder / "manifest.csv").write_text(",".join(MANIFEST.names) + "\n")
    info = json.loads((folder / "info.json").read_text()) | {"status": "ok"}
    (folder / "info.json").write_text(json.dumps(info))
    run(
        "sweep", "--info", folder / "info.json", "--manifest", folder / "manifest.csv",
        "--platform", "haswell-sim", "--out", folder / "sweep.csv",
    )  # fmt: skip
    table = pd.read_csv(folder / "sweep.csv")
    assert table["status"].tolist() == ["failed"] and "manifest.csv" in table["message"].iloc[0]
