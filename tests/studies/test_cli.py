"""`tessera lab run`: failures of studies as rows."""

import json

import pandas as pd
import pytest

from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.table_io import frame_of, write_table

from .builders import lab_run


def run(name, folder, *words, out):
    given = [f"trace={folder / 'info.json'}", f"manifest={folder / 'manifest.csv'}", "platform=haswell-sim"]
    return lab_run(name, *given, *words, out=out)


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
    shown = run(name, folder, out=folder / "o")
    assert shown.exit_code == 0 and "QEMU-7" in shown.output
    table = pd.read_csv(folder / "o" / out)
    assert table["status"].tolist() == ["failed"] and "QEMU-7" in table["message"].iloc[0]
    assert table["workload"].tolist() == ["made"] and table["platform"].tolist() == ["haswell-sim"]


def test_a_layout_that_is_not_there_names_those_that_are(failed_recording):
    folder = failed_recording
    info = json.loads((folder / "info.json").read_text()) | {"status": "ok"}
    (folder / "info.json").write_text(json.dumps(info))
    run("ablations", folder, "layouts=growing-0,growing-9", out=folder / "shapes.csv")
    message = pd.read_csv(folder / "shapes.csv")["message"].iloc[0]
    assert "growing-9" in message and "growing-0, growing-8" in message


def test_an_empty_manifest_is_a_failed_row(failed_recording):
    folder = failed_recording
    (folder / "manifest.csv").write_text(",".join(MANIFEST.names) + "\n")
    info = json.loads((folder / "info.json").read_text()) | {"status": "ok"}
    (folder / "info.json").write_text(json.dumps(info))
    run("sweep", folder, out=folder / "sweep.csv")
    table = pd.read_csv(folder / "sweep.csv")
    assert table["status"].tolist() == ["failed"] and "manifest.csv" in table["message"].iloc[0]
