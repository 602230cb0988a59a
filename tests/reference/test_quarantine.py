"""Each rule on files made by hand: the defect is found, its neighbour and its mended form are not."""

from __future__ import annotations

import copy

import pytest

from tessera.core.reference import archived
from tessera.core.reference.quarantine import RULES, split
from tessera.core.reference.records import RecordTable

from .conftest import CYCLES, cycles_text, operations_text, write


def judge(record, folder, layout="cycles", **texts):
    write(folder, **texts)
    tables = tuple(RecordTable(f"{name}.csv", f"Figure {name}", "1", layout) for name in texts)
    sample = record(tables=tables)
    return split(archived.read_archived(sample, folder), sample)


def counts(rules) -> dict[str, int]:
    """Findings of the rules that found something."""
    return {row["rule"]: row["findings"] for _, row in rules.iterrows() if row["findings"]}


def changed(**rows):
    """CYCLES with other rows of Alpha; ``TLP_LD`` stands for TLP-LD."""
    cycles = copy.deepcopy(CYCLES)
    cycles["Alpha"] |= {name.replace("_", "-"): row for name, row in rows.items()}
    return cycles_text(cycles)


def test_sound_data_lose_nothing(tmp_path, record):
    good, aside, rules = judge(record, tmp_path, a=cycles_text())
    assert len(good) == 18 and aside.empty and counts(rules) == {}
    assert list(rules["rule"]) == [rule.__name__ for rule in RULES] and (rules["looks_for"] != "").all()


def test_an_empty_file(tmp_path, record):
    good, aside, rules = judge(record, tmp_path, a=cycles_text(), b="")
    assert counts(rules) == {"empty_file": 1} and len(good) == 18
    assert list(aside["file"]) == ["b.csv"] and aside["value"].isna().all()
    assert aside["reason"][0] == "Figure b: the archived file holds no number"


def test_a_header_alone_is_empty_too(tmp_path, record):
    assert counts(judge(record, tmp_path, b=cycles_text({}))[2]) == {"empty_file": 1}


def test_the_same_file_twice_counts_once(tmp_path, record):
    good, aside, rules = judge(record, tmp_path, a=cycles_text(), b=cycles_text(header="Configuration"))
    assert counts(rules) == {"same_file_twice": 1}
    assert set(good["file"]) == {"a.csv"} and len(aside) == 18 and set(aside["file"]) == {"b.csv"}
    one_digit = judge(record, tmp_path, a=cycles_text(), b=changed(TLP_LD=(801, 100, 701)))
    assert counts(one_digit[2]) == {}


def test_a_copied_row(tmp_path, record):
    good, aside, rules = judge(record, tmp_path, a=changed(TRPI_LD=(1500, 900, 600)))
    assert counts(rules) == {"copied_row": 1} and len(aside) == 3 and len(good) == 18
    assert set(aside["reason"]) == {"Alpha TRPI-LD repeats RPI-LD to the last digit"}
    assert counts(judge(record, tmp_path, a=changed(TRPI_LD=(1501, 901, 600)))[2]) == {}


def test_another_workload_may_have_the_same_cycles(tmp_path, record):
    text = cycles_text(CYCLES | {"Gamma": CYCLES["Alpha"]})
    assert counts(judge(record, tmp_path, a=text)[2]) == {}


def test_a_lost_digit_costs_one_number(tmp_path, record):
    good, aside, rules = judge(record, tmp_path, a=changed(LP_LD=(1000, 400, 60)))
    assert counts(rules) == {"broken_sum": 1} and len(good) == 17
    assert list(aside["quantity"]) == ["non_walk"] and "lost its last digit" in aside["reason"][0]


def test_a_sum_that_nothing_explains_costs_the_row(tmp_path, record):
    good, aside, _ = judge(record, tmp_path, a=changed(LP_LD=(1000, 400, 700)))
    assert len(good) == 15 and set(aside["quantity"]) == {"runtime", "walk", "non_walk"}
    assert set(aside["line"]) == {2}


@pytest.mark.parametrize(("non_walk", "found"), [("599.0", 0), ("601.0", 0), ("598.9", 1), ("601.1", 1)])
def test_rounding_of_a_sum(tmp_path, record, non_walk, found):
    assert (
        counts(judge(record, tmp_path, a=changed(LP_LD=(1000, 400, non_walk)))[2]).get("broken_sum", 0)
        == found
    )


# Printed: mprotect of 4KB 0.9k -> 1.0k (1.1x), munmap of 4GB 0.3G -> 0.4G (1.4x), mmap of 4GB 1.4G (1.0x).
PAGES_4GB = 1 << 20


@pytest.mark.parametrize(
    ("label", "pages", "cycles", "reason"),
    [
        ("PROTECT", 1, (900, 990), ""),
        ("PROTECT", 1, (900, 1124), ""),  # 1.249, at the edge: 1.1 + 0.15
        ("PROTECT", 1, (900, 1126), "overhead 1.25, printed 1.1"),
        ("PROTECT", 1, (900, 854), "overhead 0.95, printed 1.1"),
        ("PROTECT", 1, (1801, 1999), "off 1801 cycles, printed 900"),
        ("PROTECT", 1, (449, 499), "off 449 cycles, printed 900"),
        ("UNMAP_SHARED", PAGES_4GB, (300_000_000, 480_000_000), "overhead 1.60, printed 1.4"),
        ("MAP", PAGES_4GB, (3_400_000_000, 3_500_000_000), "off 3400000000 cycles, printed 1400000000"),
        ("MAP", 2, (1, 9), ""),  # a region that the paper doesn't print
    ],
)
def test_operations_that_the_paper_prints_otherwise(tmp_path, record, label, pages, cycles, reason):
    text = operations_text({(label, pages): cycles, ("MAP", 1): (2300, 2400)})
    good, aside, rules = judge(record, tmp_path, "operations", a=text)
    if not reason:
        assert counts(rules) == {} and len(good) == 16
        return
    assert set(aside["rule"]) == {"not_as_printed"} and len(aside) == 8 and len(good) == 8
    assert set(aside["configuration"]) == {"on", "off"} and reason in aside["reason"].iloc[0]
