"""Tables are plain and complete in a pipe, and as wide as the terminal on one."""

from __future__ import annotations

import re

import pandas as pd

from tessera.core.tables import frame_rows, print_table, table_text

from .terminal import on_terminal

WIDE = """
from tessera.core.tables import print_table
print_table(("name", "text"), [("[bold]x[/]", "word " * 30 + "end")], whole=(0,))
"""


def test_columns_are_aligned_and_nothing_is_read_as_markup():
    text = table_text(("a", "number"), [("[bold]:smile:", "1"), ("x", "1000")], right=(1,))
    assert text.splitlines() == ["a              number", "[bold]:smile:       1", "x                1000"]


def test_without_heads_and_without_rows():
    assert table_text((), [("a", "b"), ("ccc", "d")]).splitlines() == ["a    b", "ccc  d"]
    assert table_text((), []) == ""
    assert table_text(("a", "b"), []) == "a  b"


def test_nothing_prints_nothing(capsys):
    print_table((), [])
    assert capsys.readouterr().out == ""


def test_a_width_folds_long_cells_and_keeps_all_their_words():
    words = [f"word{at}" for at in range(40)]
    lines = table_text(("id", "text"), [("key", " ".join(words))], whole=(0,), width=40).splitlines()
    assert max(map(len, lines)) <= 40 and len(lines) > 5
    assert re.findall(r"word\d+", " ".join(lines)) == words


def test_in_a_pipe_there_is_one_line_a_row_and_no_colour(capsys):
    print_table(("name", "text"), [("x", "word " * 100 + "end")])
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2 and out.endswith("end\n") and "\x1b" not in out


def test_on_a_terminal_it_is_as_wide_as_that():
    written = on_terminal(WIDE, columns=50)
    plain = re.sub(r"\x1b\[[\d;]*m", "", written)
    assert plain != written  # the head is bold
    lines = plain.split("\r\n")
    assert max(map(len, lines)) <= 50 and len(lines) > 3
    assert lines[1].startswith("[bold]x[/]  word")


def test_frames_have_numbers_on_the_right():
    frame = pd.DataFrame({"name": ["a"], "x": [0.25], "n": [3], "yes": [True], "none": [float("nan")]})
    made = frame_rows(frame, 1)
    assert made["rows"] == [["a", "0.2", "3", "True", "NaN"]] and made["right"] == [1, 2, 4]
    assert frame_rows(frame)["rows"][0][1] == "0.25"
