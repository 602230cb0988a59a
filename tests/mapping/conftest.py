"""Real captures, if this machine allows them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.mapping.capture import check_allowed


@pytest.fixture
def live(root, tmp_path):
    """``live("OPTION"..., "--", "PROGRAM"...)``: the finished command, and the paths of mapping and facts."""
    if not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("mosalloc is not built: ./run tessera dev build mosalloc")
    try:
        check_allowed()
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    out = tmp_path / "live.csv"

    def call(*words):
        argv = [sys.executable, "-m", "tessera", "mapping", "capture", "--out", str(out), *map(str, words)]
        env = os.environ | {"PYTHONPATH": str(root / "src")}
        done = subprocess.run(argv, env=env, cwd=root, capture_output=True, text=True, timeout=120)
        return done, out, out.with_name("live.csv.json")

    yield call
    assert not list(tmp_path.glob(".*.tmp"))
