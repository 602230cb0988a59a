"""Bundles: what was measured on a real machine, in a form that anyone can check.

docs/reference/bundle-format.md describes it.

From the bottom: :mod:`file_format` (names, values, limits, errors), :mod:`bundle` (types), :mod:`csv_files`
and :mod:`json_files` (strict), :mod:`archive` (folder or zip, packed counts, sums), :mod:`reader`,
:mod:`texts` (shown, and without names), :mod:`cell_arithmetic` (counts to cells, shared with imported logs),
:mod:`writer` (while measuring, and sealing), :mod:`head_checks` and :mod:`run_checks`, :mod:`verify`,
:mod:`merge` and :mod:`store` (folders, and downloads of what the index lists).
"""

from tessera.measure.bundles.reader import read_bundle
from tessera.measure.bundles.writer import seal

__all__ = ["read_bundle", "seal"]
