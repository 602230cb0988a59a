"""``tessera dev reference``: its three verbs with a server, without a network, and offline by choice."""

from __future__ import annotations

import io
import re
import sys
import zipfile

import pytest
from click.testing import CliRunner

import tessera.core  # noqa: F401 - loads the module that is patched
from tessera.cli.dev.reference import reference
from tessera.core.errors import TesseraError

from .conftest import cycles_text, operations_text
from .server import Behaviour

FOLDER = "mitosis-asplos20-artifact-1.0/evaluation/reference"
FILES = {
    "figure4/figure4_normalized.csv": "Workloads\tSocket 0\nAlpha\t75%\n",
    "figure6/figure6_absolute.csv": cycles_text(),
    "figure9/figure9a_absolute.csv": cycles_text({"Alpha": {"F": (10, 4, 6)}}),
    "figure9/figure9b_absolute.csv": cycles_text({"Alpha": {"TF": (9, 4, 5)}}),
    "figure10/figure10a_absolute.csv": cycles_text({"Alpha": {"LP-LD": (8, 4, 4)}}),
    "figure10/figure10b_absolute.csv": cycles_text({"Alpha": {"TLP-LD": (7, 4, 3)}}),
    "figure11/figure11_absolute.csv": cycles_text({"Alpha": {"LP-LD": (6, 4, 2)}}),
    "table5/table5_absolute.csv": operations_text({("MAP", 1): (2300, 2400)}),
    "table6/table6_absolute.csv": "",
}


def artifact() -> bytes:
    """A zip with the files in the places of the Mitosis artifact."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, text in FILES.items():
            file.writestr(f"{FOLDER}/{name}", text)
    return out.getvalue()


def run(*words: str):
    done = CliRunner().invoke(reference, list(words))
    if isinstance(done.exception, TesseraError):
        return done.exception.exit_code, f"{done.output}{done.exception}"
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    module = sys.modules["tessera.core.reference.fetch"]  # the package has a function of that name
    monkeypatch.setattr(module, "PAUSE_S", 0.0)


def test_verify_names_every_record_and_what_is_here():
    status, out = run("verify")
    assert status == 0 and out.count(": missing, ") == 2 and "10.5281/zenodo.3605382" in out


def test_fetch_verify_and_compare(zenodo, tmp_path):
    results = tmp_path / "sample"
    results.mkdir()
    server = Behaviour({"mitosis-project/artifact-1.0.zip": artifact()})
    with zenodo(server):
        status, out = run("fetch", "--results", str(results))
    assert status == 0 and re.search(r"SHA-256 [0-9a-f]{64} recorded", out)
    assert re.search(r"^empty_file: 1 ", out, re.M) and re.search(r"^same_file_twice: 0 ", out, re.M)
    assert {path for _, path, _ in server.requests} == {
        "/api/records/3605382",
        "/api/records/3605382/files/mitosis-project/artifact-1.0.zip/content",
    }
    assert (results / "reference" / "archived.csv").exists()
    status, out = run("verify")
    assert status == 0 and out.count(": present, ") == 1
    assert "\nmitosis: mitosis-project/artifact-1.0.zip: recorded\n" in out
    status, out = run("fetch", "--offline")
    assert status == 0 and out.startswith("note: offline: mitosis") and "reference-results" not in out


def test_no_network_is_status_2_with_the_reason_and_offline_is_a_note(zenodo, tmp_path):
    with zenodo(None):
        status, out = run("fetch")
        assert status == 2 and "--offline" in out
        status, out = run("fetch", "--offline", "--results", str(tmp_path))
    assert status == 0 and out.startswith("note: offline: mitosis") and "reference-results/" in out
    assert re.search(r"; 27 [^,]*, 0 ", out)


def test_verify_without_and_with_damage(zenodo):
    assert run("verify")[0] == 0
    status, out = run("verify", "mitosis")
    assert status == 1 and "tessera dev reference fetch mitosis" in out
    status, out = run("fetch", "linux")
    assert status == 2 and ": mitosis, mitosis-binaries" in out


def test_compare_takes_a_folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "copy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    status, out = run("compare", "--results", str(tmp_path), "--from", str(tmp_path / "copy"))
    assert status == 0 and "note:" not in out and "27 printed numbers" in out
    assert "0 set aside" in out
    (tmp_path / "copy" / "figure9" / "figure9b_absolute.csv").write_text(
        FILES["figure9/figure9a_absolute.csv"]
    )
    assert ", 3 set aside" in run("compare", "--results", str(tmp_path), "--from", str(tmp_path / "copy"))[1]
