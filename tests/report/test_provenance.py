"""Provenance: complete, and without names of users, hosts or folders."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

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
        assert not re.search(r"(?<![\w<>.~:/])/[a-z]+/[a-z]+", path.read_text()), path.read_text()[:500]


def test_names_of_user_and_host_are_taken_out(monkeypatch):
    monkeypatch.setattr(provenance.socket, "gethostname", lambda: "lab-node7")
    monkeypatch.setattr(provenance, "user_name", lambda: "mariam")
    clean = provenance.scrubber()
    assert clean({"a": ["ran by mariam on lab-node7 in /data/mariam/run.log"]}) == {
        "a": ["ran by <user> on <host> in <path>/run.log"]
    }
    assert clean("mariamne rooted https://example.org/a/b") == "mariamne rooted https://example.org/a/b"


def test_a_missing_part_is_empty(tmp_path):
    assert load_provenance(tmp_path) == {name: {} for name in PARTS}


def test_hashes_are_remembered_until_a_file_changes(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("1")
    first = provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json")
    calls = []
    monkeypatch.setattr(provenance, "file_digest", lambda path: calls.append(path.name) or "new")
    assert provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json") == first and calls == []
    (tmp_path / "a.csv").write_text("22")
    assert provenance.tree_hashes(tmp_path, tmp_path / "cache" / "hashes.json") == {"a.csv": "new"}


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
