"""Counts that follow from definitions: polynomial terms, levels of a page table, pages, alignment."""

from __future__ import annotations

from math import ceil, comb

from tessera.judge.claims.outcome import Outcome

MB, GB = 1 << 20, 1 << 30
PTE_BYTES = 8


def polynomial_terms(claim, evidence, variables: int, degree: int, intercept: bool) -> Outcome:
    """Monomials of degree <= ``degree`` in ``variables`` variables."""
    return Outcome(comb(variables + degree, degree) - (0 if intercept else 1), "published")


def walk_levels(claim, evidence, address_bits: int, index_bits: int, page_bits: dict) -> Outcome:
    """References of a walk: one per table level above the page offset, by name of ``page_bits``."""
    levels = {name: (address_bits - bits) / index_bits for name, bits in page_bits.items()}
    return Outcome(levels if len(levels) > 1 else next(iter(levels.values())), "published")


def page_count(claim, evidence, footprint_mb, page_bytes: int) -> Outcome:
    """Pages that a footprint needs."""
    return Outcome(ceil(evidence.number(footprint_mb) * MB / page_bytes), "published")


def page_table_mb(claim, evidence, footprint_mb, page_bytes: int) -> Outcome:
    """Size of the leaf page tables (8 bytes per page), MB."""
    pages = evidence.number(footprint_mb) * MB / page_bytes
    return Outcome(pages * PTE_BYTES / MB, "published")


def pages_to_gb(claim, evidence, pages, page_bytes: int) -> Outcome:
    """What ``pages`` pages cover, GB of 2^30 bytes."""
    return Outcome(evidence.number(pages) * page_bytes / GB, "published")


def rounded_up_gb(claim, evidence, size_mb) -> Outcome:
    """A size rounded up to whole GB."""
    return Outcome(ceil(evidence.number(size_mb) * MB / GB), "published")


def excess_percent(claim, evidence, ratio) -> Outcome:
    """By how much a ratio exceeds one, percent."""
    return Outcome((evidence.number(ratio) - 1) * 100, "published")


def aligned_pool(claim, evidence) -> Outcome:
    """OPERA D5.10 section 2.4.1: where the 1GB interval and the pool start, addresses."""

    def printed(quantity: str) -> int:
        return int(evidence.number({"table": "opera_values", "where": {"quantity": quantity}}))

    offset = printed("interval_offset") * MB
    unaligned = printed("mmap_base") + offset
    aligned = -(-unaligned // GB) * GB
    value = {
        "interval_unaligned": unaligned,
        "interval_aligned": aligned,
        "pool_base": aligned - offset,
    }
    return Outcome(value, "published")


EVALUATORS = {
    "polynomial_terms": polynomial_terms,
    "walk_levels": walk_levels,
    "page_count": page_count,
    "page_table_mb": page_table_mb,
    "pages_to_gb": pages_to_gb,
    "rounded_up_gb": rounded_up_gb,
    "excess_percent": excess_percent,
    "aligned_pool": aligned_pool,
}
