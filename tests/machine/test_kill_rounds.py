"""A few rounds of ``kill_rounds.py``; its first lines have the command for many, with real pages."""

from __future__ import annotations

from .kill_rounds import ROOT, Rounds

ROUNDS = 10


def test_two_checkouts_leave_nothing_whenever_they_are_killed(tmp_path):
    rounds = Rounds(tmp_path, [ROOT, ROOT], seed=7, fix=0)
    try:
        for number in range(ROUNDS):
            rounds.run(number)
    finally:
        rounds.close()
    assert rounds.wrong == [], rounds.table()
    assert sum(count for name, count in rounds.counts.items() if name.endswith(": killed")) >= ROUNDS
