"""Datasets in a workload's arguments: ``file:{gap-twitter}.sg`` stands for the path of that graph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tessera.record.datasets.cache import graph_file

_PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)\}(\.w?sg)")


def expand(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments with every placeholder replaced by the path of the graph it names.

    Raises:
        TesseraError: the dataset is unknown, not fetched or not converted.
    """
    return tuple(_PLACEHOLDER.sub(lambda found: str(graph_file(*found.groups())), arg) for arg in args)
