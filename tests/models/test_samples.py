"""Reading samples: what is accepted, what is left out, and what each refusal says."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.samples import check_samples, read_samples

ROWS = {
    "layout": ["growing-0", "random-3", "growing-8"],
    "runtime_cycles": ["100", "90", "80"],
    "stlb_hits": ["1", "2", "3"],
    "stlb_misses": ["9", "5", "0"],
    "walk_cycles": ["30", "20", "0"],
}


def frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(ROWS | columns)


def test_columns_become_arrays_in_order_of_the_names():
    fitted = check_samples(frame()).fitted
    assert fitted.layouts == ("growing-0", "growing-8", "random-3")
    np.testing.assert_array_equal(fitted.R, [100, 80, 90])
    np.testing.assert_array_equal(fitted.H, [1, 3, 2])
    np.testing.assert_array_equal(fitted.M, [9, 0, 5])
    np.testing.assert_array_equal(fitted.C, [30, 0, 20])


def test_other_columns_are_ignored():
    assert len(check_samples(frame(runtime_ns=["", "", ""], colour=["red"] * 3)).fitted) == 3


def test_short_names_of_the_anchors():
    table = check_samples(frame(layout=["4kb", "random-3", "2mb"]))
    assert table.fitted.layouts == ("growing-0", "growing-8", "random-3")
    assert table.fitted.anchor("growing-0") == (1, 9, 30, 100)


def test_the_1gb_layout_is_held_apart():
    layouts = ["growing-0", "growing-8", "1gb"]
    table = check_samples(frame(layout=layouts))
    assert table.fitted.layouts == ("growing-0", "growing-8")
    assert table.test.layouts == ("1gb",)


def test_failed_cells_are_left_out_with_a_message():
    table = check_samples(
        frame(
            status=["ok", "failed", "ok"], message=["", "out of memory", ""], runtime_cycles=["100", "", "80"]
        )
    )
    assert len(table.fitted) == 2
    assert table.notes == ["left out random-3: status failed (out of memory)"]


def test_numbers_of_any_type_are_read():
    typed = frame().astype({c: float for c in ROWS if c != "layout"})
    np.testing.assert_array_equal(check_samples(typed).fitted.R, [100, 80, 90])


# name: (columns, what the message must say)
REFUSED = {
    "layout twice": ({"layout": ["growing-0", "growing-0", "growing-8"]}, "layout growing-0: .*4kb"),
    "anchor and its alias": ({"layout": ["growing-0", "4kb", "growing-8"]}, "layout growing-0: .*4kb"),
    "no 4KB anchor": ({"layout": ["a", "b", "growing-8"]}, r"anchor layout growing-0 \(4kb\)"),
    "no 2MB anchor": ({"layout": ["growing-0", "b", "c"]}, r"anchor layout growing-8 \(2mb\)"),
    "no anchors": ({"layout": ["a", "b", "c"]}, "growing-8 .*: .*a, b, c"),
    "failed anchor": ({"status": ["failed", "ok", "ok"]}, "growing-0: status failed"),
    "empty runtime": ({"runtime_cycles": ["100", "", "80"]}, "runtime_cycles of layout random-3: empty; it"),
    "missing runtime": ({"runtime_cycles": [100, None, 80]}, "runtime_cycles of layout random-3: empty; it"),
    "no runtime at all": ({"runtime_cycles": ["", "", ""]}, "runtime_cycles: empty in every row.*hybrid"),
    "zero runtime": ({"runtime_cycles": ["100", "0", "80"]}, "runtime_cycles of layout random-3: '0'"),
    "negative runtime": ({"runtime_cycles": ["100", "-1", "80"]}, "runtime_cycles of layout random-3: '-1'"),
    "text": ({"stlb_hits": ["1", "two", "3"]}, "stlb_hits of layout random-3: 'two'"),
    "negative": ({"stlb_misses": ["9", "-5", "0"]}, "stlb_misses of layout random-3: '-5'"),
    "empty input": ({"walk_cycles": ["30", "", "0"]}, "walk_cycles of layout random-3: empty; it must"),
    "no number": ({"walk_cycles": [30, float("nan"), 0]}, "walk_cycles of layout random-3: empty; it must"),
    "infinite": ({"walk_cycles": ["30", "inf", "0"]}, "walk_cycles of layout random-3: 'inf'"),
    "two workloads": ({"workload": ["gups", "gups", "pr"]}, "workload: .*gups, pr"),
    "two platforms": ({"platform": ["a", "b", "b"]}, "platform: .*a, b"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_what_is_wrong(name):
    columns, message = REFUSED[name]
    with pytest.raises(TesseraError, match=message):
        check_samples(frame(**columns))


def test_missing_columns_are_named_with_those_found():
    with pytest.raises(TesseraError) as error:
        check_samples(frame().drop(columns=["stlb_hits", "walk_cycles"]))
    assert "stlb_hits, walk_cycles" in error.value.asked
    assert "layout, runtime_cycles, stlb_misses" in error.value.found


def test_a_missing_anchor_message_lists_a_few_layouts():
    with pytest.raises(TesseraError, match="a, b, c"):
        check_samples(frame(layout=["a", "b", "c"]))


@pytest.mark.parametrize("content, message", [(None, "no such file"), ("", "cannot be read")])
def test_files_that_are_no_tables(tmp_path, content, message):
    path = tmp_path / "samples.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(TesseraError, match=message):
        read_samples(path)


@pytest.mark.parametrize("column, few", [("walk_cycles", "yaniv"), ("stlb_hits", "pham")])
def test_a_column_that_a_processor_does_not_count_names_the_models(column, few):
    """Empty in every row (Zen counts no C): the models whose equations have the input are listed."""
    with pytest.raises(TesseraError) as error:
        check_samples(frame(**{column: ["", "", ""]}))
    assert error.value.code == "not-counted" and column in error.value.asked
    listed = error.value.found.split(": ")[1].split(", ")
    assert {few, "mosmodel"} <= set(listed)
    assert ("yaniv" in listed) == (column == "walk_cycles")


def test_a_hole_in_a_column_is_another_error():
    with pytest.raises(TesseraError) as error:
        check_samples(frame(walk_cycles=["30", "", "0"]))
    assert error.value.code == "table-number"
