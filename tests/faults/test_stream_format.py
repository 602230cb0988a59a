"""The text of a recording: what is read, what is refused, and that nothing else happens on damaged text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.lab.faults.recorded_faults import (
    RECORDING_HEAD,
    Access,
    Dropped,
    Fault,
    faults_of_lines,
    text_of_faults,
)

GOOD = [
    RECORDING_HEAD,
    "fault 401925",
    "4 s fffffe0000002fc8 1e614fc8 8 entry_stack",
    "7 L ffff888000001000 1000 4096",
    "0 S ffffc90000000000 2000 168 stack",
    "end 3 2 60",
    "touch 7f0000000000 5000 1",
    "fault 401929",
    "1 l 10 20 1",
    "drop scheduled",
    "fault 401929",
    "end 9 0 0",
    "touch 0 40 1",
]


def test_a_recording_by_hand():
    one, dropped, two = faults_of_lines(GOOD, "x")
    assert one == Fault(
        0x401925,
        (
            Access(4, True, False, 0xFFFFFE0000002FC8, 0x1E614FC8, 8, "entry stack"),
            Access(7, False, True, 0xFFFF888000001000, 0x1000, 4096),
            Access(0, True, True, 0xFFFFC90000000000, 0x2000, 168, "stack"),
        ),
        3, 2, 60, (0x7F0000000000, 0x5000),
    )  # fmt: skip
    assert one.instructions == 14
    assert dropped == Dropped(0x401929, "scheduled")
    assert (two.accesses, two.instructions, two.touch) == ((), 9, (0, 0x40))


@pytest.mark.parametrize(
    ("physical", "bytes_", "lines"),
    [(0, 1, [0]), (63, 1, [0]), (64, 8, [1]), (60, 8, [0, 1]), (64, 128, [1, 2]), (65, 128, [1, 2, 3])],
)
def test_lines_of_an_access(physical, bytes_, lines):
    assert list(Access(0, False, True, 0, physical, bytes_).lines) == lines


def test_what_is_written_is_read_back():
    kept = [one for one in faults_of_lines(GOOD, "x") if isinstance(one, Fault)]
    assert list(faults_of_lines(text_of_faults(kept), "x")) == kept


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([], 0),
        (["tessera-fault-stream 2"], 1),
        ([RECORDING_HEAD, "end 1 0 0"], 2),
        ([RECORDING_HEAD, "fault"], 2),
        ([RECORDING_HEAD, "fault xyz"], 2),
        ([RECORDING_HEAD, ""], 2),
        ([*GOOD[:2], "fault 1"], 3),
        (GOOD[:3], 3),
        (GOOD[:6], 6),
        ([*GOOD[:6], "1 l 10 20 1"], 7),
        ([*GOOD[:6], "end 1 0 0"], 7),
        ([*GOOD[:2], "touch 1 2 1"], 3),
        ([*GOOD[:2], "1 m 10 20 1"], 3),
        ([*GOOD[:2], "1 l 10 20 0"], 3),
        ([*GOOD[:2], "1 l 10 20 65"], 3),
        ([*GOOD[:2], "1 S 10 20 1073741825"], 3),
        ([*GOOD[:2], "-1 l 10 20 1"], 3),
        ([*GOOD[:2], "1 l 10 20 1 a;b"], 3),
        ([*GOOD[:2], "1 l 10 11111111111111111 1"], 3),
    ],
)
def test_a_wrong_line_is_named(lines, number):
    with pytest.raises(TesseraError) as error:
        list(faults_of_lines(lines, "some.txt"))
    assert f"some.txt line {number}" in error.value.asked


@given(st.data())
def test_damaged_text_is_read_or_refused(data):
    """Lines removed, doubled, swapped or changed in a character: never another exception, and what is read is
    written and read as the same."""
    lines = list(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(["drop", "double", "swap", "change", "replace"]))
        if how == "drop" and len(lines) > 1:
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "swap":
            lines[at], lines[0] = lines[0], lines[at]
        elif how == "change" and lines[at]:
            place = data.draw(st.integers(0, len(lines[at]) - 1))
            character = data.draw(st.characters())
            lines[at] = lines[at][:place] + character + lines[at][place + 1 :]
        elif how == "replace":
            lines[at] = data.draw(st.text(max_size=40))
    try:
        found = [one for one in faults_of_lines(lines, "x") if isinstance(one, Fault)]
    except TesseraError:
        return
    assert list(faults_of_lines(text_of_faults(found), "x")) == found
