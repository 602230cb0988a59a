"""One Slurm cluster for the tests of this folder; they are skipped, with the reason, where none can start."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from .cluster import Cluster, missing
from .runs import Workflow


def reason_to_skip() -> str:
    """Why nothing can run through Slurm here; empty if it can."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "Snakemake's plugin for Slurm is not installed: ./run --slurm setup"
    return missing()


@pytest.fixture(scope="session")
def cluster():
    """Two nodes on this machine."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with Cluster() as started:
        yield started


@pytest.fixture
def workflow(cluster, tmp_path) -> Workflow:
    """A small workflow with the profile of this checkout, in a folder of its own."""
    return Workflow(tmp_path, cluster)


@pytest.fixture
def python() -> str:
    """The interpreter of these tests."""
    return sys.executable
