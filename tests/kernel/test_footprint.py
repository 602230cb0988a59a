"""Table 4 from lines as the guest writes them; numbers of tables counted by hand."""

import re

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.cost_experiments import footprint_disagreements, footprint_table

#: 1 MB: one table of each level below the root. 64 MB: 32 of leaves, 1, 1. 1 GB: 512, 1, 1. In kB, 4 each.
HOME_KB = {1 << 20: 12, 64 << 20: 136, 1 << 30: 2056}


def lines(extra_kb=0):
    return "".join(
        f"{copies},{size},{kb + extra_kb},{(copies - 1) * kb}\n"
        for size, kb in HOME_KB.items()
        for copies in (1, 2, 4)
    )


def test_the_accounts_of_whole_trees_are_the_papers_function():
    measured = footprint_table(lines())
    assert footprint_disagreements(measured) == []
    one = measured[(measured.footprint_bytes == 1 << 20) & (measured.copies == 4)].iloc[0]
    assert one.page_table_bytes == 4 * 4 * 4096  # four levels, four copies
    assert f"{one.overhead:.3f}" == "1.046"  # as Table 4 prints
    assert one.overhead == pytest.approx(one.calculated_overhead)


def test_a_table_too_many_is_a_disagreement():
    found = footprint_disagreements(footprint_table(lines(extra_kb=4)))
    assert len(found) == 9
    assert re.search(r"\b20480 bytes.* 16384$", found[0])


def test_missing_lines_are_an_error():
    with pytest.raises(TesseraError, match="1 lines, .*9"):
        footprint_table("1,1048576,12,0\n")
