"""How a recording keeps what a process maps."""

from tessera.lab.oracle.process_faults import ZERO
from tessera.lab.oracle.recording import pages_of_runs, runs


def test_runs_of_consecutive_frames_and_of_zero_pages():
    pages = {7: 100, 8: 101, 9: ZERO, 10: ZERO, 12: 103, 13: 103, 6: ZERO}
    assert runs(pages) == [[6, ZERO, 1], [7, 100, 2], [9, ZERO, 2], [12, 103, 1], [13, 103, 1]]


def test_the_pages_come_back():
    pages = {5: 1, 6: 2, 7: ZERO, 9: 3, 10: 4, 11: 0}
    assert pages_of_runs(runs(pages)) == pages and runs({}) == []
