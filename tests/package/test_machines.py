"""A package of results with bundles: their bytes, their provenance, and a word to who uploads them."""

from __future__ import annotations

import json
import socket
import subprocess
import zipfile

import pytest
from click.testing import CliRunner

from tessera.cli.dev.package import package
from tessera.core.errors import TesseraError
from tessera.measure.bundles.verify import verify_bundle as verify_bundle
from tessera.report.package import make, verify_package
from tests.bundles.processor import Plan, made, put

from .conftest import fill, git
from .test_make import TOP, manifest

ID = "broadwell-01234567-89abcdef"
BUNDLE = f"machines/bundles/{ID}"
FILES = made(Plan(layouts=("growing-0", "growing-8"))).files


@pytest.fixture
def measured(results):
    """Results in which a bundle took part; its cells are measured, those around it simulated."""
    cells = FILES["cells.csv"].decode()
    put(FILES, results / BUNDLE)
    fill(
        results / "machines",
        {
            "bundles.json": json.dumps([{"id": ID, "bars": []}]),
            "cells.csv": cells,
            "cells/gups-16gb/broadwell-01234567.csv": cells,
            "models/errors.csv": "model,max_error\nbasu,0.5\n",
            "layouts/gups-16gb/broadwell-01234567/manifest.csv": "layout\ngrowing-0\n",
        },
    )
    fill(results, {"claims_elsewhere.csv": "id,machine,class,obtained,holds,coverage\n"})
    return results


def test_every_file_has_the_provenance_of_its_own_tree(measured, tmp_path):
    rows = manifest(make(measured, tmp_path / "out.zip").path)
    found = {path.removeprefix("results/sample/"): row["provenance"] for path, row in rows.items()}
    assert found["models/errors.csv"] == "derived from simulated"
    assert found["machines/models/errors.csv"] == "derived from measured"
    assert found["claims_elsewhere.csv"] == "derived from measured"
    assert (
        found["machines/cells.csv"] == found["machines/cells/gups-16gb/broadwell-01234567.csv"] == "measured"
    )
    assert found["machines/bundles.json"] == "input"
    assert found["machines/layouts/gups-16gb/broadwell-01234567/manifest.csv"] == "input"
    of_bundle = {path.removeprefix(f"{BUNDLE}/"): kind for path, kind in found.items() if BUNDLE in path}
    assert set(of_bundle) == set(FILES)
    inputs = {"events.csv", "workloads.json", "bundle.json"}
    assert {name for name, kind in of_bundle.items() if kind == "input"} == inputs | {
        name for name in FILES if name.startswith("layouts/")
    }
    assert set(of_bundle.values()) == {"input", "measured"}


def test_a_rehearsal_is_simulated(measured, tmp_path):
    about = measured / BUNDLE / "bundle.json"
    about.write_text(about.read_text().replace('"rehearsal": false', '"rehearsal": true'))
    rows = manifest(make(measured, tmp_path / "out.zip").path)
    assert rows[f"results/sample/{BUNDLE}/runs.csv"]["provenance"] == "simulated"


def test_an_unpacked_bundle_verifies(measured, tmp_path):
    done = make(measured, tmp_path / "out.zip")
    assert done.about["bundles"] == [ID] and verify_package(done.path)["files"] > len(FILES)
    subprocess.run(["python3", "-m", "zipfile", "-e", str(done.path), str(tmp_path / "empty")], check=True)
    assert verify_bundle(tmp_path / "empty" / TOP / "results" / "sample" / BUNDLE).passed


def test_texts_of_a_bundle_are_not_scrubbed_and_others_are(measured, tmp_path):
    """Scrubbing would break the sums of the bundle."""
    text = '"found /data/x/y"\n'
    fill(measured, {f"{BUNDLE}/environment.csv": text, "machines/note.txt": text})
    done = make(measured, tmp_path / "out.zip")
    with zipfile.ZipFile(done.path) as archive:
        assert archive.read(f"{TOP}/results/sample/{BUNDLE}/environment.csv").decode() == text
        assert archive.read(f"{TOP}/results/sample/machines/note.txt").decode() == '"found [path]"\n'


def test_a_bundle_that_names_this_machine_is_refused(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "lab-7")
    fill(measured, {f"{BUNDLE}/environment.csv": "found lab-7\n"})
    with pytest.raises(TesseraError, match="lab-7") as caught:
        make(measured, tmp_path / "out.zip")
    assert caught.value.code == "package-names-machine" and not (tmp_path / "out.zip").exists()


def test_committed_bundles_are_measured_and_the_index_is_code(checkout, results, tmp_path):
    put(FILES, checkout / "bundles" / ID)
    fill(checkout, {"bundles/index.csv": "id,doi,sha256\n"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "bundle")
    rows = manifest(make(results, tmp_path / "out.zip").path)
    assert rows["bundles/index.csv"]["provenance"] == "code"
    assert rows[f"bundles/{ID}/counts.csv.gz"]["provenance"] == "measured"
    assert rows[f"bundles/{ID}/layouts/gups-16gb/growing-8.csv"]["provenance"] == "input"


def test_the_command_names_the_bundles(measured, tmp_path):
    done = CliRunner().invoke(package, ["--results", str(measured), "--out", str(tmp_path / "out.zip")])
    assert done.exit_code == 0 and ID in done.output, done.output
