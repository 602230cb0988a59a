"""Published numbers with their sources; ``reference-results/`` is the only place that contains them.

``load("table8_rsquared")`` is one table, ``names()`` lists them, ``lookup`` picks single numbers
(:mod:`published_tables`). The rest is about what papers archived: :mod:`records` (which records, and what is
here), :mod:`fetch`, :mod:`archived` (their numbers), :mod:`quarantine` (numbers that cannot be correct) and
:mod:`comparison` (with printed numbers and ours).
"""

from tessera.core.reference.published_tables import (
    COMMON_COLUMNS,
    default_dir,
    load_published,
    lookup,
    published_names,
    select_published,
)

__all__ = ["COMMON_COLUMNS", "default_dir", "load_published", "lookup", "published_names", "select_published"]
