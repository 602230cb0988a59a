"""The reason of a claim whose pairs have no cells: it names few pairs and counts the others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tessera.report.claims.claim import TO_MEASURE, Missing, Scope
from tessera.report.claims.selection import NAMED, deciding_pairs


def reason(workloads: int) -> str:
    """Why a claim about this number of workloads on one platform cannot be judged without any cell."""
    names = tuple(f"w{n}" for n in range(workloads))
    claim = SimpleNamespace(scope=Scope(workloads=names, platforms=("haswell",)), hardware_class="haswell")
    with pytest.raises(Missing) as missing:
        deciding_pairs(claim, SimpleNamespace(provenances={}, dropped={}))
    assert str(missing.value) == f"{missing.value.reason}{TO_MEASURE}{missing.value.command}"
    return missing.value.reason


@pytest.mark.parametrize("workloads", [1, NAMED])
def test_a_short_list_is_complete(workloads):
    found = reason(workloads)
    assert found.count(" on haswell") == workloads and f"w{workloads - 1} on haswell" in found


def test_a_long_list_names_three_pairs_and_counts_the_others():
    found = reason(57)
    assert NAMED == 3 and found.count(" on haswell") == 3
    assert "57 pairs" in found and found.endswith("and 54 more") and "w2" in found and "w3" not in found


def test_four_pairs_are_a_long_list():
    found = reason(4)
    assert "4 pairs" in found and found.endswith("and 1 more") and "w3" not in found
