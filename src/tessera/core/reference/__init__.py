"""Published numbers with their sources; ``reference-results/`` is the only place that contains them.

``load("table8_rsquared")`` is one table, ``names()`` lists them, ``lookup`` picks single numbers.
"""

from tessera.core.reference.published_tables import COMMON_COLUMNS, default_dir, load, lookup, names, select

__all__ = ["COMMON_COLUMNS", "default_dir", "load", "lookup", "names", "select"]
