"""A package holds what it should, gives the same bytes twice, and unpacks to files that sha256sum accepts."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import zipfile

import pytest

from tessera import __version__
from tessera.core.errors import TesseraError
from tessera.report.package import make, verify_package

from .conftest import fill, git

TOP = f"tessera-{__version__}"


def names(path):
    return {name.removeprefix(f"{TOP}/") for name in zipfile.ZipFile(path).namelist()}


def manifest(path) -> dict[str, dict]:
    text = zipfile.ZipFile(path).read(f"{TOP}/manifest.csv").decode()
    return {row["path"]: row for row in csv.DictReader(io.StringIO(text))}


def test_code_results_and_the_three_lists(results, tmp_path):
    done = make(results, tmp_path / "out.zip")
    assert names(done.path) == {
        *(".gitignore", ".zenodo.json", "README.md", "run", "reference-results/table1.csv"),
        *(
            "results/sample/cells.csv",
            "results/sample/models/errors.csv",
            "results/sample/traces/gups/info.json",
        ),
        *("results/sample/figures/table8.csv", "results/sample/figures/table8.svg"),
        *("results/sample/layouts/gups/a.csv", "results/sample/benchmarks/cells.tsv"),
        *("results/sample/report/index.html", "package.json", "manifest.csv", "SHA256SUMS"),
    }
    assert done.traces_bytes == 5000 and done.size_bytes == done.path.stat().st_size
    assert not list(tmp_path.glob(".*.tmp"))


def test_the_report_alone_is_beside_it(results, tmp_path):
    fill(results, {"report/figures/fig2.svg": "<svg/>", "report/report.pdf": b"%PDF-1.7"})
    first, second = (make(results, tmp_path / name).report for name in ("a.zip", "b.zip"))
    assert first == tmp_path / "a-report.zip" and first.read_bytes() == second.read_bytes()
    top = f"{TOP}-report-sample"
    with zipfile.ZipFile(first) as archive:
        inside = archive.namelist()
        assert archive.read(f"{top}/index.html") == b"<html></html>\n"
    assert inside == [f"{top}/{name}" for name in ("figures/fig2.svg", "index.html", "report.pdf")]
    shutil.rmtree(results / "report")
    assert make(results, tmp_path / "c.zip").report is None and not (tmp_path / "c-report.zip").exists()


def test_traces_when_asked_for(results, tmp_path):
    done = make(results, tmp_path / "out.zip", traces=True)
    assert "results/sample/traces/gups/trace.tst" in names(done.path) and done.about["traces"] is True


def test_unpacks_in_an_empty_folder_and_sha256sum_agrees(results, tmp_path):
    done = make(results, tmp_path / "out.zip")
    empty = tmp_path / "empty"
    empty.mkdir()
    subprocess.run(["python3", "-m", "zipfile", "-e", str(done.path), str(empty)], check=True)
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=empty / TOP, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.count(": OK\n") == len(names(done.path)) - 1  # all but the list itself
    assert (empty / TOP / "README.md").read_text() == "# Sample\n"
    (empty / TOP / "README.md").write_text("# Other\n")
    again = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=empty / TOP, capture_output=True, text=True)
    assert again.returncode == 1 and "README.md: FAILED" in again.stdout


def test_the_same_input_gives_the_same_bytes(results, tmp_path):
    first = make(results, tmp_path / "a.zip")
    for path in results.rglob("*"):
        path.touch()  # times of files don't count
    second = make(results, tmp_path / "b.zip")
    assert first.sha256 == second.sha256
    (results / "models" / "errors.csv").write_text("model,max_error\nbasu,0.6\n")
    assert make(results, tmp_path / "c.zip").sha256 != first.sha256


def test_modes_and_times_are_the_commits(checkout, results, tmp_path):
    entries = {
        info.filename: info for info in zipfile.ZipFile(make(results, tmp_path / "a.zip").path).infolist()
    }
    assert entries[f"{TOP}/run"].external_attr >> 16 == 0o100755
    assert entries[f"{TOP}/README.md"].external_attr >> 16 == 0o100644
    seconds = int(git(checkout, "show", "-s", "--format=%ct"))
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(seconds, UTC)
    assert {info.date_time[:5] for info in entries.values()} == {
        (at.year, at.month, at.day, at.hour, at.minute)
    }


def test_every_file_has_its_provenance(results, tmp_path):
    rows = manifest(make(results, tmp_path / "out.zip").path)
    found = {path.removeprefix("results/sample/"): row["provenance"] for path, row in rows.items()}
    assert found == {
        ".gitignore": "code",
        ".zenodo.json": "code",
        "README.md": "code",
        "run": "code",
        "package.json": "code",
        "reference-results/table1.csv": "published",
        "cells.csv": "measured+simulated",
        "models/errors.csv": "derived from simulated",  # measured cells have no cycles and are never fitted
        "figures/table8.csv": "simulated+published",
        "figures/table8.svg": "simulated+published",
        "layouts/gups/a.csv": "input",
        "benchmarks/cells.tsv": "measured",
        "report/index.html": "stated with each number",
        "traces/gups/info.json": "derived from simulated",
    }
    assert rows["results/sample/models/errors.csv"]["bytes"] == "25"


def test_a_dirty_tree_is_refused_or_left_out_and_said(checkout, results, tmp_path):
    for change in ("README.md", "new.txt"):
        (checkout / change).write_text("changed\n")
        with pytest.raises(TesseraError, match="clean checkout") as caught:
            make(results, tmp_path / "out.zip")
        assert caught.value.code == "package-dirty"
        assert "--allow-dirty" in caught.value.remedy and not (tmp_path / "out.zip").exists()
        done = make(results, tmp_path / "dirty.zip", allow_dirty=True)
        assert done.about["uncommitted_changes_left_out"] is True and "new.txt" not in names(done.path)
        assert zipfile.ZipFile(done.path).read(f"{TOP}/README.md") == b"# Sample\n"
        git(checkout, "checkout", "-q", "README.md")


def test_results_of_another_commit_are_named(checkout, results, tmp_path):
    fill(results, {"provenance/git.json": json.dumps({"commit": "f" * 40, "dirty": True})})
    about = make(results, tmp_path / "out.zip").about
    assert about["results_commit"] == "f" * 40 and about["results_from_a_dirty_tree"] is True
    assert about["commit"] == git(checkout, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("where", "out", "match"),
    [
        ("absent", "out.zip", "no such folder"),
        ("results", "out.zip", "no cells.csv"),
        ("results/sample", "out.tar", r"out\.tar: .*\.zip"),
        (
            "results/sample",
            "tessera-checkout/results/sample/out.zip",
            r"results/sample/out\.zip: .*\n.*--out tessera\.zip",
        ),
    ],
)
def test_wrong_places(checkout, results, tmp_path, where, out, match):
    with pytest.raises(TesseraError, match=match):
        make(checkout / where, tmp_path / out)


def test_links_are_refused(checkout, results, tmp_path):
    (results / "models" / "link.csv").symlink_to("/etc/hostname")
    with pytest.raises(TesseraError, match="link.csv"):
        make(results, tmp_path / "out.zip")
    (results / "models" / "link.csv").unlink()
    (checkout / "link").symlink_to("/etc/hostname")
    git(checkout, "add", "link")
    git(checkout, "commit", "-q", "-m", "link")
    with pytest.raises(TesseraError, match="link: ") as caught:
        make(results, tmp_path / "out.zip")
    assert caught.value.code == "package-not-a-file"
    assert not (tmp_path / "out.zip").exists() and not list(tmp_path.glob(".*.tmp"))


def test_outside_of_git(results, tmp_path, monkeypatch):
    fill(tmp_path / "plain", {"results/sample/cells.csv": "a\n"})
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "plain"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(TesseraError, match=r"code of .*plain \(git "):
        make(tmp_path / "plain" / "results" / "sample", tmp_path / "out.zip")


def test_what_is_made_verifies(results, tmp_path):
    done = make(results, tmp_path / "out.zip", traces=True)
    assert verify_package(done.path)["files"] == len(names(done.path)) - 1
