"""Random lives of page tables in the guest, without and with replicas, on the kernel of the other tests."""

import os

import pandas as pd
import pytest

from .conftest import run_sh

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.toolchain,
    pytest.mark.skipif(os.environ.get("TESSERA_ENGINE") == "none", reason="its tools are in an image"),
]
#: The kernel may have to be built.
LIMIT_SECONDS = 3600


def test_lives_with_replicas_are_those_without(tmp_path):
    words = ("seconds=60", "unpatched=no", "accept_series=yes", "--out", str(tmp_path))
    done = run_sh("tessera", "lab", "run", "kernel-lives", *words, timeout=LIMIT_SECONDS)
    assert done.returncode == 0, done.stdout[-3000:]
    table = pd.read_csv(tmp_path / "lives.csv", index_col="mode")
    assert table.differences.sum() == 0
    modes = {"plain", "again", "replicated", "late", "policy", "balancing"}
    assert {"plain", "replicated", "late"} <= set(table.index) <= modes  # a slow machine gets to few seeds
    assert table.operations.sum() > 300
    assert table.disturbed.sum() <= table.lives.sum() // 4
