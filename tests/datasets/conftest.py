"""A checkout of its own for each test, so that downloads go to a temporary cache."""

from __future__ import annotations

import hashlib
import random

import pytest

from tessera.record.datasets import Dataset

BODY = random.Random(5).randbytes(3_000_000)


@pytest.fixture
def body() -> bytes:
    return BODY


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    """``datasets/`` of a temporary checkout."""
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "datasets").mkdir()
    return tmp_path


@pytest.fixture
def dataset(body):
    """Makes a dataset at an address, with the published size and checksum unless others are given."""

    def make(url: str, size: int | None = len(body), sha256: str | None = None) -> Dataset:
        right = hashlib.sha256(body).hexdigest()
        return Dataset("graph", "1", url, "free", size, right if sha256 is None else sha256)

    return make
