"""Whoever only looks changes nothing: dry runs, graphs, listings and checks of the workflow."""

from __future__ import annotations

import hashlib

import pytest

from .stub_checkout import Checkout

#: Words of a look, and the exit status; --lint ends with 1 where it has advice.
LOOKS = [
    (("-np", "smoke"), 0),
    (("--rulegraph", "dot", "smoke"), 0),
    (("-S", "smoke"), 0),
    (("--lint",), 1),
]


def contents(*folders):
    """Everything in these folders: names, bytes and times of change."""
    found = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            data = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[path] = (path.stat().st_mtime_ns, data)
    return found


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Checkout:
    """Results with failed rows, which a run would drop."""
    checkout = Checkout(tmp_path_factory.mktemp("looks"), "smoke")
    checkout.snakemake("smoke", STUB_FAIL="dev step cells")
    assert "failed" in (checkout.results / "cells" / "gups" / "broadwell-sim.csv").read_text()
    return checkout


@pytest.mark.slow
@pytest.mark.parametrize(("words", "status"), LOOKS, ids=[words[0] for words, _ in LOOKS])
def test_a_look_leaves_results_and_builds_as_they_are(failed, words, status):
    before = contents(failed.results, failed.folder / "build")
    assert len(before) > 100
    failed.snakemake(*words, status=status, TESSERA_RETRY="1", TESSERA_RESERVE="1")
    assert contents(failed.results, failed.folder / "build") == before
