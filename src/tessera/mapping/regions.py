"""Regions that get frames: the used spans of the pools, of a trace or given by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.units import PAGE_4KB, parse_bytes, round_up
from tessera.mapping.check import PAGE_LIMIT
from tessera.mapping.rows import POOLS


@dataclass(frozen=True)
class Region:
    """The first ``pages`` pages of 4KB of a pool."""

    pool: str
    pages: int

    @property
    def number(self) -> int:
        """Index of the pool; streams of random numbers have it too."""
        return POOLS.index(self.pool)


def of_bytes(sizes: Mapping[str, int], owner: str) -> list[Region]:
    """Regions of pools -> bytes, rounded up to 4KB, in the order of ``POOLS``; empty pools are left out.

    Raises:
        TesseraError: an unknown pool, no used pool, or one of 2^48 bytes or more.
    """
    for pool, size in sizes.items():
        if pool not in POOLS:
            raise unknown_name("pool", pool, POOLS)
        if size >= PAGE_LIMIT * PAGE_4KB:
            raise TesseraError(
                f"pool {pool} of {size} bytes", "the limit is 2^48 bytes", "give a smaller size"
            )
    found = [Region(pool, round_up(sizes[pool], PAGE_4KB) // PAGE_4KB) for pool in POOLS if sizes.get(pool)]
    if not found:
        raise TesseraError(
            owner,
            "no pool has used bytes, so there is nothing to map",
            "give a size, for example --pool mmap=8GB",
        )
    return found


def of_trace(info: Mapping) -> list[Region]:
    """The used spans of ``tessera.record.traces.info``'s pools."""
    sizes = {pool["kind"]: pool["used_bytes"] for pool in info["pools"]}
    return of_bytes(sizes, f"trace of '{info.get('program', '')}'")


def of_texts(texts: Sequence[str]) -> list[Region]:
    """Regions of words such as ``mmap=8GB``.

    Raises:
        TesseraError: a word has another form, or names a pool for the second time.
    """
    sizes: dict[str, int] = {}
    for text in texts:
        pool, equals, size = text.partition("=")
        if not equals:
            raise TesseraError(f"--pool {text}", "this is not POOL=SIZE", "write for example --pool mmap=8GB")
        if pool in sizes:
            raise TesseraError(f"--pool {text}", f"{pool} is given twice", "give each pool once")
        sizes[pool] = parse_bytes(size, owner=f"--pool {pool}=")
    return of_bytes(sizes, "--pool")
