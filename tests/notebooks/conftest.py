"""The synthetic results tree of tests/report."""

from tests.report.conftest import small_tree

__all__ = ["small_tree"]
