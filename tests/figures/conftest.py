"""The synthetic results trees of tests/report, and one with what only figures read."""

import shutil

import pytest

from tests.report.conftest import full_tree, small_tree
from tests.synthetic import host

__all__ = ["complete_tree", "full_tree", "small_tree"]


@pytest.fixture(scope="session")
def complete_tree(full_tree, tmp_path_factory):
    """The full tree with what the pipeline adds: manifests with page counts, and real runs."""
    tree = shutil.copytree(full_tree, tmp_path_factory.mktemp("complete") / "default")
    host.write(tree)
    return tree
