"""The table of ranges for khugepaged, and the reader of what the guest printed."""

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.oracle.collapse import ScanOutcome, entries_of, guest_decisions, range_cells

TABLE = ["rw s64 o192 y256", "r z1 y511"]
TRACE = "trace 511:64 0 khugepaged-26 [000] 2.4: mm_khugepaged_scan_pmd: mm=1, scan_pfn=0x1, writable=1, "
GOOD = f"""\
cell 511:64 0 448 64 2048
cell 511:64 1 512 0 0
{TRACE}referenced=256, none_or_zero=0, status=succeeded, unmapped=64
{TRACE}referenced=511, none_or_zero=1, status=no_writable_page, unmapped=0
"""


def test_every_cell_has_512_entries_and_is_there_once():
    table = range_cells()
    assert len(set(table)) == len(table) > 400
    assert {sum(entries_of(cell).values()) for cell in table} == {512}


def test_limits_have_cells_at_their_value_and_one_above():
    swaps = {entries_of(cell)["s"] for cell in range_cells()}
    nones = {entries_of(cell)["n"] for cell in range_cells()}
    assert {8, 9, 64, 65} <= swaps and {255, 256, 511, 512} <= nones


def test_decisions_of_the_guest():
    assert guest_decisions(GOOD, TABLE) == {
        "511:64": [ScanOutcome("collapsed", 0, 64, 256), ScanOutcome("read-only", 1, 0, 511)]
    }


def test_a_range_that_was_not_built_as_asked_is_refused():
    with pytest.raises(TesseraError) as caught:
        guest_decisions(GOOD.replace("448 64 2048", "449 63 2048"), TABLE)
    assert caught.value.code == "collapse" and {"449", "63"} <= set(caught.value.found.split())


@pytest.mark.parametrize(("kept", "end"), [("1", GOOD.rindex("trace")), ("0", GOOD.index("trace"))])
def test_a_missing_decision_is_refused(kept, end):
    with pytest.raises(TesseraError) as caught:
        guest_decisions(GOOD[:end], TABLE)
    assert caught.value.code == "collapse" and {kept, "2"} <= set(caught.value.found.split())
