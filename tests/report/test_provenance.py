"""Provenance: complete, and without names of users, hosts or folders."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from tessera.core import files
from tessera.report import provenance
from tessera.report.provenance import PARTS, collect_provenance, keep_config, load_provenance


def test_collect_writes_every_part_and_load_reads_it_back(small_tree):
    written = collect_provenance(small_tree, {"name": "small"})
    assert load_provenance(small_tree) == json.loads(json.dumps(written))
    assert {path.stem for path in (small_tree / "provenance").iterdir()} == set(PARTS)
    assert written["versions"]["pandas"] and written["quantities"]["statuses"] == {"ok": 55}
    assert "cells.csv" in written["hashes"]["results"]


def test_the_configuration_of_a_run_is_the_one_it_started_with(small_tree):
    """Not that of config/<name>.yaml, which may be another; a new start replaces it."""
    for seed in (5, 6):
        keep_config(small_tree, {"name": "small", "seed": seed, "changes": {"core.mshrs": 5}})
        assert collect_provenance(small_tree)["config"] == {
            "name": "small",
            "seed": seed,
            "changes": {"core.mshrs": 5},
        }
    assert collect_provenance(small_tree, {"seed": 7})["config"] == {"seed": 7}


def test_no_absolute_path_is_written(small_tree):
    collect_provenance(small_tree, {"name": "small", "trace": str(small_tree / "traces" / "x.tst")})
    for path in (small_tree / "provenance").iterdir():
        found = re.search(r"(?<![\w<>.~:/])(?<!\[path\])/(?!proc/|sys/)[a-z]+/[a-z]+", path.read_text())
        assert not found, path.read_text()[:500]


def test_names_of_user_and_host_are_taken_out(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "lab-node7")
    monkeypatch.setattr("getpass.getuser", lambda: "mariam")
    clean = provenance.scrubber()
    assert clean({"a": ["ran by mariam on lab-node7 in /data/mariam/run.log"]}) == {
        "a": ["ran by [name] on [name] in [path]/run.log"]
    }
    assert clean("mariamne rooted https://example.org/a/b") == "mariamne rooted https://example.org/a/b"


def test_a_missing_part_is_empty(tmp_path):
    assert load_provenance(tmp_path) == {name: {} for name in PARTS}


def test_hashes_are_remembered_until_a_file_changes(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("1")
    monkeypatch.setattr(files, "SETTLED_NS", -1)  # as if the file were old
    first = provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json")
    calls = []
    monkeypatch.setattr(provenance, "file_digest", lambda path: calls.append(path.name) or "new")
    assert provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json") == first and calls == []
    (tmp_path / "a.csv").write_text("22")
    assert provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json") == {"a.csv": "new"}


def test_a_copy_that_keeps_size_and_time_is_another_file(tmp_path, monkeypatch):
    """As `cp -p` and `rsync -t` make it."""
    memory = tmp_path / "cache" / "hashes.json"
    (tmp_path / "a.csv").write_text("1")
    times = (tmp_path / "a.csv").stat().st_mtime_ns
    monkeypatch.setattr(files, "SETTLED_NS", -1)
    first = provenance.tree_hashes(tmp_path, memory)
    (tmp_path / "a.csv").write_text("2")
    os.utime(tmp_path / "a.csv", ns=(times, times))
    assert provenance.tree_hashes(tmp_path, memory)["a.csv"] == provenance.file_digest(tmp_path / "a.csv")
    assert provenance.tree_hashes(tmp_path, memory) != first


def test_a_file_that_was_just_written_is_read_again(tmp_path, monkeypatch):
    """Times are coarse: another write may leave the same ones."""
    memory = tmp_path / "cache" / "hashes.json"
    (tmp_path / "a.csv").write_text("1")
    provenance.tree_hashes(tmp_path, memory)
    monkeypatch.setattr(provenance, "file_digest", lambda path: "read again")
    assert provenance.tree_hashes(tmp_path, memory) == {"a.csv": "read again"}


@pytest.mark.parametrize("left", [".x.csv.beef-1.0123.tmp", ".trace.tst.beef-1.0123.tmp/settings"])
def test_what_a_killed_process_left_is_not_hashed(tmp_path, left):
    for name in ("cells.csv", left):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert list(provenance.tree_hashes(tmp_path)) == ["cells.csv"]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with a commit, as the checkout."""
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "--quiet"), (*settings, "commit", "--quiet", "--allow-empty", "--message", "one")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    return tmp_path


def test_git_names_the_commit_or_the_reason_why_not(repository, monkeypatch):
    assert re.fullmatch("[0-9a-f]{40}", provenance.git_state()["commit"])
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as in the checkout of another user
    found = provenance.git_state()
    assert found["commit"] is None and "dubious ownership" in found["note"]
    monkeypatch.setenv("PATH", "/nowhere")
    assert "No such file" in provenance.git_state()["note"]


def test_a_checkout_whose_changes_git_cannot_list_is_not_clean(repository):
    (repository / ".git" / "index").write_text("damaged")
    found = provenance.git_state()
    assert found["commit"] and found["dirty"] is None and found["changed_files"] == []


def test_a_repository_around_the_checkout_is_not_its_origin(repository, monkeypatch):
    (repository / "unpacked").mkdir()
    monkeypatch.setenv("TESSERA_ROOT", str(repository / "unpacked"))
    assert provenance.git_state() == {"commit": None, "note": "not a git checkout"}


def test_reports_and_caches_are_not_hashed(tmp_path):
    for name in ("report/index.html", "cache/x", "claims.csv", "cells.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert list(provenance.tree_hashes(tmp_path)) == ["cells.csv"]


@pytest.fixture
def other_machine(tmp_path: Path) -> Path:
    files = {
        "proc/cpuinfo": "model name\t: Test CPU\nflags\t\t: fpu pdpe1gb hypervisor\n\nmodel name\t: other\n",
        "proc/meminfo": "MemTotal:       1024 kB\nHugePages_Total:    0\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "7\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_machine_is_read_from_the_kernels_files(other_machine):
    found = provenance.machine_properties(other_machine)
    assert found["cpu_model"] == "Test CPU" and found["memory_bytes"] == 1 << 20
    assert found["transparent_huge_pages"] == "madvise" and found["huge_pages_2mb_reserved"] == 7
    assert found["huge_pages_1gb_reserved"] is None and found["pages_1gb"] and not found["pmu"]
