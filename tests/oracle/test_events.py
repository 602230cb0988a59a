"""The mix of events: the generator of numbers, what events refer to, and their lines."""

import numpy as np
import pytest

from tessera.lab.oracle.imitation import (
    FREE,
    NO_RESERVES,
    USE_RESERVE,
    Mix,
    SplitMix64,
    event_line,
    mixed_events,
)


def test_numbers_are_those_of_the_published_generator():
    # Reference values of SplitMix64 for the seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
    random = SplitMix64(1234567)
    assert [random.below(1 << 64) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_numbers_go_on_across_batches():
    whole, halves = SplitMix64(7), SplitMix64(7)
    first = whole._next_batch(10)[::-1]
    second = halves._next_batch(4)[::-1] + halves._next_batch(6)[::-1]
    assert first == second


@pytest.fixture(scope="module")
def events():
    return mixed_events(Mix(seed=3, count=30000, frames=50000, phase=3000))


def test_each_free_names_an_earlier_request_and_none_is_freed_twice(events):
    frees = np.flatnonzero(events & FREE)
    targets = events[frees] & np.uint32(FREE - 1)
    assert len(frees) > 9000
    assert (targets < frees).all() and (events[targets] & FREE == 0).all()
    assert len(np.unique(targets)) == len(targets)


def test_all_orders_types_and_zones_occur(events):
    asks = events[events & FREE == 0]
    assert set(asks & 15) == set(range(10))
    assert set(asks >> 4 & 3) == {0, 1, 2} and set(asks >> 6 & 3) == {0, 1, 2}
    assert set(asks >> 8) == {0, 1, 2, 4}


def test_a_shorter_mix_is_the_start_of_a_longer_one(events):
    assert (mixed_events(Mix(seed=3, count=5000, frames=50000, phase=3000)) == events[:5000]).all()
    assert (mixed_events(Mix(seed=4, count=5000, frames=50000, phase=3000)) != events[:5000]).any()


def test_lines_say_what_the_bits_say():
    alloc = 9 | 1 << 4 | 2 << 6 | (USE_RESERVE | NO_RESERVES) << 8
    coded = np.array([alloc, FREE | 0, 3 | 2 << 4], dtype=np.uint32)
    assert event_line(coded, 0) == "alloc 0 9 Movable zone=Normal no-reclaim use-reserve no-reserves"
    assert event_line(coded, 1) == "free 0"
    assert event_line(coded, 2) == "alloc 2 3 Reclaimable zone=DMA no-reclaim"
