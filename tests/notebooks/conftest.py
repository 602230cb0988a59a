"""The synthetic results trees of tests/report."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_PATH = Path(__file__).parents[1] / "report" / "conftest.py"
_spec = importlib.util.spec_from_file_location("report_conftest", _PATH)
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)

small_tree, synthetic = _shared.small_tree, _shared.synthetic
