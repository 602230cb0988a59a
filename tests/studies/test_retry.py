"""A study that failed is tried again at the next start; one that succeeded or was refused in part is kept."""

import json

from tessera.pipeline.retry import forget_failures


def test_failed_studies_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["snakemake"])
    folder = tmp_path / "studies"
    bad, good = folder / "sampling" / "a" / "errors.csv", folder / "sweep" / "a" / "p" / "sweep.csv"
    window = folder / "windows" / "a-100" / "info.json"
    for path in (bad, good, window):
        path.parent.mkdir(parents=True)
    bad.write_text("workload,status,message\na,failed,no trace\n")
    good.write_text("workload,status,message\na,ok,\na,refused,impossible\n")
    window.write_text(json.dumps({"status": "failed"}))
    assert set(forget_failures(tmp_path)) == {bad, window}
    assert good.exists() and not bad.exists() and not window.exists()
