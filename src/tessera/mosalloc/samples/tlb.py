"""What ``data_src`` of a sample says about the TLB.

Bits 26 to 32 of the number (``mem_dtlb`` of union perf_mem_data_src, include/uapi/linux/perf_event.h) mean:
not available, hit, miss, L1, L2, walker, fault. perf also prints them as words, ``|TLB L2 miss|``. The bits
decide, because perf cuts the words after 99 characters.

Intel sets ``L2 miss`` in load latency and precise store records of accesses that missed the STLB
(arch/x86/events/intel/ds.c), AMD in IBS records with DcL1TlbMiss and DcL2TlbMiss (arch/x86/events/amd/ibs.c).
"""

from __future__ import annotations

import re

MISSED, HIT, UNKNOWN = "missed", "hit", "unknown"

_SHIFT, _MASK = 26, 0x7F
_NA, _HIT, _MISS, _L1, _L2, _WALKER, _FAULT = (1 << bit for bit in range(7))
_WORDS = re.compile(r"\|TLB ([^|]*)")

#: perf's buffer for the words holds 99 characters and the final zero.
_CUT_AT = 99


def outcome(data_src: int) -> str:
    """:data:`MISSED` if the last level of the TLB missed, so that a walk was needed; else HIT or UNKNOWN."""
    bits = data_src >> _SHIFT & _MASK
    if bits & (_WALKER | _FAULT) or bits & (_MISS | _L1) == _MISS or bits & (_MISS | _L2) == (_MISS | _L2):
        return MISSED
    return HIT if bits & _HIT else UNKNOWN


def words_agree(data_src: int, words: str) -> bool:
    """Whether perf's words say the same as the number: both hit, both miss, or neither."""
    found = _WORDS.search(words)
    if found is None or (found.end() == len(words) and len(words) >= _CUT_AT):
        return len(words) >= _CUT_AT
    bits = data_src >> _SHIFT & _MASK
    text = found[1].strip()
    return (text.endswith("hit") or text.endswith("hit miss")) == bool(bits & _HIT) and text.endswith(
        "miss"
    ) == bool(bits & _MISS)
