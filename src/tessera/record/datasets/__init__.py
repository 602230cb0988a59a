"""Published inputs: their manifest, downloads that resume, checksums, and the state of the cache."""

from tessera.record.datasets.cache import State, cache_folder, graph_file, state
from tessera.record.datasets.download import fetch
from tessera.record.datasets.manifest import Dataset, load, names
from tessera.record.datasets.placeholders import expand
from tessera.record.datasets.verify import verify

__all__ = [
    "Dataset",
    "State",
    "cache_folder",
    "expand",
    "fetch",
    "graph_file",
    "load",
    "names",
    "state",
    "verify",
]
