"""Decisions of the guest beside the imitation's.

*Free-running*: from the start state, all events in one run; the share of equal decisions and the first
difference. *Block by block*: every block of events starts from the guest's own lists, which the host read
at that moment. After a difference, the rest of its block counts as it comes, so the share is a lower bound
of "each decision on the guest's own lists". A decision is the frame that a request got, or that it got
none. After a block, the whole state is compared, too: every list in its order, and every counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tessera.oracle.events import FREE, line
from tessera.oracle.imitation import NONE, Replay, frames_of, replay


@dataclass(frozen=True)
class Difference:
    """The first event with another decision: its index and text, and both frames (-1: nothing)."""

    index: int
    event: str
    guest: int
    imitation: int

    def __str__(self) -> str:
        return (
            f"event {self.index} ({self.event}): the guest got {self.guest}, the imitation {self.imitation}"
        )


@dataclass
class Comparison:
    """Decisions compared so far.

    Attributes:
        events: events, frees included.
        decisions: requests.
        refused: requests that got nothing in the guest.
        equal: requests with the same outcome.
        blocks, equal_states: blocks of events, and those after which the whole state was equal.
        first: the first difference.
        state_differences: first differing line of both states, by block; at most ten.
    """

    events: int = 0
    decisions: int = 0
    refused: int = 0
    equal: int = 0
    blocks: int = 0
    equal_states: int = 0
    first: Difference | None = None
    state_differences: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of equal decisions; 1 for none."""
        return self.equal / self.decisions if self.decisions else 1.0

    def add(self, events: np.ndarray, at: slice, guest: np.ndarray, mine: np.ndarray) -> None:
        """Count the events of a block; frames have the shape of the block."""
        asks = events[at] & FREE == 0
        same = guest == mine
        self.events += len(asks)
        self.decisions += int(asks.sum())
        self.refused += int((asks & (guest == NONE)).sum())
        self.equal += int((asks & same).sum())
        wrong = np.flatnonzero(asks & ~same)
        if len(wrong) and self.first is None:
            index = at.start + int(wrong[0])
            self.first = Difference(index, line(events, index), int(guest[wrong[0]]), int(mine[wrong[0]]))

    def add_state(self, block: int, guest: str, mine: str) -> None:
        """Count the states after a block."""
        self.blocks += 1
        self.equal_states += guest == mine
        if guest != mine and len(self.state_differences) < 10:
            self.state_differences.append(f"block {block}: {first_difference(guest, mine)}")


def first_difference(guest: str, mine: str) -> str:
    """The first line that differs, of both."""
    for one, other in zip(guest.splitlines(), mine.splitlines(), strict=False):
        if one != other:
            return f"guest '{one[:160]}', imitation '{other[:160]}'"
    return "one state has more lines"


def free_running(events: np.ndarray, guest: np.ndarray, done: Replay) -> Comparison:
    """All events of one run of the imitation.

    Args:
        guest: frame by event, -1 for a free or nothing; shape (events,).
        done: of :func:`run`.
    """
    result = Comparison()
    result.add(events, slice(0, len(events)), guest, frames_of(done.frames, len(events)))
    return result


def run(program: Path, snapshot: str, events: np.ndarray) -> Replay:
    """All events in the imitation."""
    return replay(program, snapshot, [line(events, index) for index in range(len(events))])


def block_lines(events: np.ndarray, at: slice, guest: np.ndarray) -> list[str]:
    """The events of a block as lines. Memory of an earlier block is freed by the frame of the guest."""
    lines = []
    for index in range(at.start, at.stop):
        event = int(events[index])
        target = event & ~FREE
        if event & FREE and target < at.start:
            if guest[target] != NONE:
                lines.append(f"free-frame {guest[target]} {int(events[target]) & 15}")
        else:
            lines.append(line(events, index))
    return lines


def one_block(
    result: Comparison,
    program: Path,
    states: tuple[str, str],
    events: np.ndarray,
    at: slice,
    guest: np.ndarray,
) -> None:
    """Compare a block from the guest's state before it, and the states after it.

    Args:
        states: before and after the block.
        guest: frame by event up to the end of the block.
    """
    before, after = states
    done = replay(program, before, block_lines(events, at, guest))
    mine = np.array([done.frames.get(index, NONE) for index in range(at.start, at.stop)], dtype=np.int64)
    result.add(events, at, guest[at], mine)
    result.add_state(at.start, after, done.state)
