"""Progress lines become sentences; times are worked out by hand."""

import pytest

from tessera.simulate.progress import SimulationProgress, Ticker, duration, parse_progress


def test_a_line_of_the_simulator():
    assert parse_progress("4000000 10000000 2000000 3") == SimulationProgress(
        4_000_000, 10_000_000, 2_000_000, 3
    )
    assert (
        parse_progress("4000000 10000000 2000000 3").sentence() == "40%, 2.0 M accesses x layouts/s, 3 s left"
    )
    assert parse_progress("0 10 - -").sentence() == "0%"
    assert parse_progress("0 0 - -").sentence() == "100%"


@pytest.mark.parametrize("line", ["", "3 of 4 layouts are in the cache", "1 2", "1 2 x y", "a b - -"])
def test_anything_else_is_no_state(line):
    assert parse_progress(line) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (7620, "2 h 7 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_the_first_line_is_shown_and_the_next_only_after_a_while(capsys):
    ticker = Ticker("w on p")
    ticker("2 of 4 layouts are in the cache")
    ticker("5 10 2000000 1")
    ticker.last -= 11
    ticker("5 10 2000000 1")
    ticker.close()
    assert capsys.readouterr().err.splitlines() == [
        "w on p: 2 of 4 layouts are in the cache",
        "w on p: 50%, 2.0 M accesses x layouts/s, 1 s left",
    ]
