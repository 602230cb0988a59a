"""Random events for guest and imitation, runs of the imitation's programs, and counts of what is compared."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError

# Values of the guest beside those of the imitation.


@dataclass(frozen=True)
class Agreement:
    """What was compared; the sum of two has the first difference of either and no name.

    Attributes:
        compared, equal: numbers of values.
        first: the first difference; empty if there is none.
        what: its name in the table.
    """

    compared: int = 0
    equal: int = 0
    first: str = ""
    what: str = ""

    @property
    def share(self) -> str:
        """Share of equal values, in per cent."""
        return f"{100 * self.equal / self.compared:.4f}" if self.compared else "-"

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.compared + other.compared, self.equal + other.equal, self.first or other.first)

    def named(self, what: str) -> Agreement:
        """With its name in the table."""
        return replace(self, what=what)


# A random mix of allocations and frees, the same for the guest and for the imitation.
#
# An event is 32 bits; ``artifacts/kernel/oracle/module/tessera_oracle.c`` has the encoding. The mix goes
# through phases. A phase has its own weights of orders and types, a fill level that it steers to, and a rule
# for the block that is freed. Levels above all memory let requests fail, and levels near it force fallbacks
# between types. The same seed gives the same bytes on every machine and every version of numpy (SplitMix64,
# Steele et al., OOPSLA 2014).

FREE = 1 << 31
TYPES = ("Unmovable", "Movable", "Reclaimable")
ZONES = ("DMA", "DMA32", "Normal")
NO_WAKE, USE_RESERVE, NO_RESERVES = 1, 2, 4
RIGHTS = {NO_WAKE: "no-wake", USE_RESERVE: "use-reserve", NO_RESERVES: "no-reserves"}

#: Weights of orders 0 to 9, in thousandths: small blocks, all orders, large blocks.
ORDER_MIXES = (
    (700, 120, 90, 90, 0, 0, 0, 0, 0, 0),
    (560, 110, 80, 70, 50, 40, 30, 25, 20, 15),
    (300, 100, 100, 100, 80, 80, 60, 60, 60, 60),
    (1000, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
#: Weights of the types: one of them after the other needs the memory of the others.
TYPE_MIXES = ((250, 600, 150), (900, 50, 50), (50, 900, 50), (50, 50, 900), (334, 333, 333))
ZONE_WEIGHTS = (20, 180, 800)
RIGHT_WEIGHTS = ((0, 850), (NO_WAKE, 40), (USE_RESERVE, 60), (NO_RESERVES, 50))
#: Which block is freed: any, the newest, the oldest.
ANY, NEWEST, OLDEST = range(3)


@dataclass(frozen=True)
class Mix:
    """A mix of events.

    Attributes:
        seed: of the random numbers.
        count: events.
        frames: frames of memory: the measure of fill levels.
        phase: events of a phase.
    """

    seed: int
    count: int
    frames: int
    phase: int = 20000


class SplitMix64:
    """Numbers below 2^64, made in batches."""

    def __init__(self, seed: int):
        self._state = np.uint64(seed)
        self._batch: list[int] = []

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1. The bias is below limit / 2^64."""
        if not self._batch:
            self._batch = self._next_batch(1 << 14)
        return self._batch.pop() % limit

    def _next_batch(self, count: int) -> list[int]:
        with np.errstate(over="ignore"):
            step = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
            z = self._state + step
            self._state = z[-1]
            z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
            z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
            z ^= z >> np.uint64(31)
        return z[::-1].tolist()


def mixed_events(mix: Mix) -> np.ndarray:
    """The events of a mix, shape (count,), uint32."""
    random = SplitMix64(mix.seed)
    events = np.zeros(mix.count, dtype=np.uint32)
    live: list[int] = []
    held = 0  # frames, if every request got its block
    for index in range(mix.count):
        if index % mix.phase == 0:
            orders = ORDER_MIXES[random.below(len(ORDER_MIXES))]
            types = TYPE_MIXES[random.below(len(TYPE_MIXES))]
            level = mix.frames * (20 + random.below(95)) // 100
            rule = random.below(3)
        # Towards the level three allocations for a free, at the level as many frees as allocations.
        frees = live and random.below(4) < (1 if held < level else 3)
        if frees:
            target = _take(live, rule, random)
            held -= 1 << int(events[target] & 15)
            events[index] = FREE | target
            continue
        order = _weighted(orders, random)
        kind, zone = _weighted(types, random), _weighted(ZONE_WEIGHTS, random)
        right = RIGHT_WEIGHTS[_weighted([weight for _, weight in RIGHT_WEIGHTS], random)][0]
        events[index] = order | kind << 4 | zone << 6 | right << 8
        live.append(index)
        held += 1 << order
    return events


def _take(live: list[int], rule: int, random: SplitMix64) -> int:
    """Remove and return the block to free. ``OLDEST`` takes one of the oldest 64, in random order."""
    at = len(live) - 1
    if rule == ANY:
        at = random.below(len(live))
    elif rule == OLDEST:
        at = random.below(min(64, len(live)))
    live[at], live[-1] = live[-1], live[at]
    return live.pop()


def _weighted(weights, random: SplitMix64) -> int:
    point = random.below(1000)
    for index, weight in enumerate(weights):
        if point < weight:
            return index
        point -= weight
    raise AssertionError("weights add up to 1000")


def event_line(events: np.ndarray, index: int) -> str:
    """An event as a line for ``tessera-phys replay``; the ID of a block is the index of its allocation."""
    event = int(events[index])
    if event & FREE:
        return f"free {event & ~FREE}"
    words = [f"alloc {index} {event & 15} {TYPES[event >> 4 & 3]} zone={ZONES[event >> 6 & 3]} no-reclaim"]
    words += [word for bit, word in RIGHTS.items() if event >> 8 & bit]
    return " ".join(words)


# Runs of the imitation's programs on states and events of the guest.

NONE = -1


@dataclass(frozen=True)
class Replay:
    """What ``tessera-phys replay`` did.

    Attributes:
        frames: ID -> first frame of the block; -1 if the request got nothing.
        state: the final state, without the lines of blocks in use.
        output: all that it printed.
    """

    frames: dict[int, int]
    state: str
    output: str


def output_of(program: Path, words: Sequence[str], files: Mapping[str, str], about: str) -> str:
    """What a program of the imitation prints.

    Args:
        words: its arguments; a word that is a name in ``files`` stands for the path of this file.
        files: name -> text.
        about: what is asked, for the error.

    Raises:
        TesseraError: the program refused a file; its message is in the error.
    """
    with TemporaryDirectory(prefix="tessera-oracle-") as temporary:
        paths = {name: Path(temporary) / name for name in files}
        for name, text in files.items():
            paths[name].write_text(text)
        done = subprocess.run([program, *(paths.get(w, w) for w in words)], capture_output=True, text=True)
    if done.returncode:
        raise _refused(f"'{program.name}' {about}", done)
    return done.stdout


def text_of_lines(lines: Sequence[str]) -> str:
    """Lines as a file has them."""
    return "".join(f"{line}\n" for line in lines)


def _refused(asked: str, done: subprocess.CompletedProcess) -> TesseraError:
    return TesseraError(
        asked,
        f"it exited with status {done.returncode}: {done.stderr.strip()[-400:]}",
        "read the message: the state of the guest breaks a rule of the imitation, or an event does",
        exit_code=EXIT_FAILED,
        code="imitation-refused",
    )


def replay(program: Path, snapshot: str, events: Sequence[str], *, decisions: bool = False) -> Replay:
    """Run events from a state.

    Args:
        program: ``tessera-phys``.
        snapshot: text of the start state.
        events: lines for ``tessera-phys replay``.
        decisions: print every decision, too.

    Raises:
        TesseraError: the program refused the snapshot or an event; its message is in the error.
    """
    with TemporaryDirectory(prefix="tessera-oracle-") as temporary:
        folder = Path(temporary)
        (folder / "snapshot").write_text(snapshot)
        (folder / "events").write_text(text_of_lines(events))
        command = [program, "replay", folder / "events", "--snapshot", folder / "snapshot"]
        command += ["--write-snapshot", folder / "end"] + (["--decisions"] if decisions else [])
        with (folder / "output").open("w") as stream:
            done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True)
        output = (folder / "output").read_text()
        if done.returncode != 0:
            raise _refused(f"'{program.name} replay' from a state of the guest", done)
        return Replay(frames_by_id(output), without_used((folder / "end").read_text()), output)


def frames_by_id(output: str) -> dict[int, int]:
    """ID -> frame of the lines ``ID FRAME`` and ``ID none REASON``."""
    found = {}
    for line in output.splitlines():
        if line[:1].isdigit():
            words = line.split()
            found[int(words[0])] = NONE if words[1] == "none" else int(words[1])
    return found


def without_used(snapshot: str) -> str:
    """A state without the lines of blocks in use, which a kernel does not tell."""
    return "".join(line for line in snapshot.splitlines(keepends=True) if not line.startswith("used "))


def frames_of(found: dict[int, int], count: int) -> np.ndarray:
    """Frames by event, shape (count,); -1 for a free, and for a request that got nothing."""
    frames = np.full(count, NONE, dtype=np.int64)
    frames[list(found)] = list(found.values())
    return frames
