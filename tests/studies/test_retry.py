"""A study that failed is tried again at the next start; one that succeeded or was refused in part is kept."""

import json

from tessera.cli.pipeline.failures import drop, failures


def test_failed_studies_are_forgotten(tmp_path):
    folder = tmp_path / "studies"
    bad, good = folder / "sampling" / "a" / "errors.csv", folder / "sweep" / "a" / "p" / "sweep.csv"
    window = folder / "windows" / "a-100" / "info.json"
    for path in (bad, good, window):
        path.parent.mkdir(parents=True)
    bad.write_text("workload,status,message\na,failed,no trace\n")
    beside = bad.with_name("intervals.csv")
    beside.write_text("layout\n")
    good.write_text("workload,status,message\na,ok,\na,refused,impossible\n")
    window.write_text(json.dumps({"status": "failed"}))
    designs = folder / "designs" / "a" / "p" / "cells.csv"
    refused = folder / "designs" / "b" / "p" / "cells.csv"
    for path, status in ((designs, "failed"), (refused, "refused")):
        path.parent.mkdir(parents=True)
        path.write_text(f"workload,status,message\na,ok,\na,{status},why\n")
    tables = [designs.with_name(name) for name in ("structures.csv", "mappings.csv")]
    for path in tables:
        path.write_text("workload\n")
    found = failures(tmp_path, reserve=False)
    assert {one.path for one in found} == {bad, designs, window}
    drop(tmp_path, found)
    assert good.exists() and refused.exists()
    assert not any(path.exists() for path in (bad, beside, window, designs, *tables))
