"""A recording of the guest: what ``tessera lab run oracle-compare`` and the tests replay without a guest.

A folder with ``recording.json`` (kernel, machine, mix, the result block by block) and compressed files:

- ``frames.xz``: first frame of each request of the mix, -1 for none; int32;
- ``states.xz``: states by the number of events before them;
- ``counts.xz``: state and the kernel's text by moment;
- ``collapse.xz``: cells, and the guest's decisions by limits;
- ``faults.xz``: a process: events, state at its start, root table, what it maps at each look;
- ``files.xz``, ``copies.xz``, ``swaps.xz``: accesses, and what the guest printed about them;
- ``pagings.xz``: processes by name (:mod:`.scenes`): events, start, and what changed in their maps.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.lab.oracle.collapse import ScanOutcome
from tessera.lab.oracle.imitation import FREE, NONE, Mix, mixed_events
from tessera.lab.oracle.paging import Paging
from tessera.lab.oracle.process_faults import ZERO, ProcessMap

#: Files of a recording.
FILES = (
    "recording.json",
    "frames.xz",
    "states.xz",
    "counts.xz",
    "collapse.xz",
    "faults.xz",
    "files.xz",
    "copies.xz",
    "swaps.xz",
    "pagings.xz",
)


@dataclass(frozen=True)
class Faults:
    """A process in the guest.

    Attributes:
        events: its calls and accesses, for ``tessera-vm``.
        state: of physical memory at its start.
        root: frame of its root table.
        looks: name -> what it maps then.
    """

    events: list[str]
    state: str
    root: int
    looks: dict[str, ProcessMap]


@dataclass
class GuestHistory:
    """What the guest did.

    Attributes:
        facts: kernel, machine and results of the block-by-block comparison, for people.
        mix: of the events.
        frames: first frame by event, -1 for a free or nothing; shape (events,).
        states: number of events before -> state.
        counts: moment -> (state, the kernel's own text).
        cells: of khugepaged's table.
        decisions: limits -> the guest's decisions on the cells.
        faults: of a process.
        files: accesses to files, and what the guest printed about them.
        copies: accesses of a process and its children, and a letter for each.
        swaps: accesses to swapped memory, and what the guest printed about them.
        pagings: processes by the name of their scene.
    """

    facts: dict
    mix: Mix
    frames: np.ndarray
    states: dict[int, str]
    counts: dict[str, tuple[str, str]]
    cells: list[str]
    decisions: dict[str, list[ScanOutcome]]
    faults: Faults
    files: tuple[list[str], str]
    copies: tuple[list[str], str]
    swaps: tuple[list[str], str]
    pagings: dict[str, Paging]

    def events(self) -> np.ndarray:
        """The events of the mix, made again."""
        return mixed_events(self.mix)

    def save(self, folder: Path, events: np.ndarray) -> None:
        """Write the recording."""
        _write(folder / "recording.json", (json.dumps(self.facts, indent=2) + "\n").encode())
        _write(folder / "frames.xz", _packed(self.frames[events & FREE == 0].astype("<i4").tobytes()))
        _write(folder / "states.xz", _packed_json(self.states))
        _write(folder / "counts.xz", _packed_json(self.counts))
        decisions = {
            limits: [list(asdict(one).values()) for one in all_] for limits, all_ in self.decisions.items()
        }
        _write(folder / "collapse.xz", _packed_json({"cells": self.cells, "decisions": decisions}))
        looks = {name: [runs(look.pages), sorted(look.tables)] for name, look in self.faults.looks.items()}
        faults = {"events": self.faults.events, "state": self.faults.state, "root": self.faults.root}
        _write(folder / "faults.xz", _packed_json(faults | {"looks": looks}))
        _write(folder / "files.xz", _packed_json(self.files))
        _write(folder / "copies.xz", _packed_json(self.copies))
        _write(folder / "swaps.xz", _packed_json(self.swaps))
        pagings = {name: paging.packed() for name, paging in self.pagings.items()}
        _write(folder / "pagings.xz", _packed_json(pagings))


def read_history(folder: Path, count: int | None = None) -> tuple[GuestHistory, np.ndarray]:
    """A recording, or its first ``count`` events; and its events.

    Raises:
        TesseraError: a file is missing, or the mix of this version makes other events than the recording has.
    """
    for name in FILES:
        if not (folder / name).is_file():
            raise TesseraError(
                f"recording {folder}",
                f"{name} is not there",
                "record it: ./run tessera lab oracle record --out FOLDER",
            )
    facts = json.loads((folder / "recording.json").read_text())
    whole = Mix(**facts["mix"])
    mix = Mix(whole.seed, min(count or whole.count, whole.count), whole.frames, whole.phase)
    events = mixed_events(mix)
    got = np.frombuffer(lzma.decompress((folder / "frames.xz").read_bytes()), dtype="<i4").astype(np.int64)
    asks = np.flatnonzero(events & FREE == 0)
    if len(asks) > len(got) or (mix == whole and len(asks) != len(got)):
        raise TesseraError(
            f"recording {folder}: {len(got)} requests",
            f"the mix of this version makes {len(asks)}",
            "record it again: ./run tessera lab oracle record --out FOLDER",
        )
    frames = np.full(mix.count, NONE, dtype=np.int64)
    frames[asks] = got[: len(asks)]
    states = {int(key): text for key, text in _read(folder / "states.xz").items()}
    collapse = _read(folder / "collapse.xz")
    decisions = {
        limits: [ScanOutcome(*one) for one in all_] for limits, all_ in collapse["decisions"].items()
    }
    counts = {moment: tuple(pair) for moment, pair in _read(folder / "counts.xz").items()}
    faults = _read(folder / "faults.xz")
    looks = {
        name: ProcessMap(pages_of_runs(of_pages), set(tables))
        for name, (of_pages, tables) in faults["looks"].items()
    }
    process = Faults(faults["events"], faults["state"], faults["root"], looks)
    return (
        GuestHistory(
            facts,
            mix,
            frames,
            states,
            counts,
            collapse["cells"],
            decisions,
            process,
            tuple(_read(folder / "files.xz")),
            tuple(_read(folder / "copies.xz")),
            tuple(_read(folder / "swaps.xz")),
            {name: Paging.unpacked(packed) for name, packed in _read(folder / "pagings.xz").items()},
        ),
        events,
    )


def runs(pages: dict[int, int]) -> list[list[int]]:
    """First page, its frame and the number of pages, of each run of consecutive frames or zero pages."""
    found: list[list[int]] = []
    for page, frame in sorted(pages.items()):
        if found:
            first, first_frame, count = found[-1]
            following = ZERO if first_frame == ZERO else first_frame + count
            if page == first + count and frame == following:
                found[-1][2] += 1
                continue
        found.append([page, frame, 1])
    return found


def pages_of_runs(found: list[list[int]]) -> dict[int, int]:
    """The pages of :func:`runs`."""
    return {
        first + part: ZERO if frame == ZERO else frame + part
        for first, frame, count in found
        for part in range(count)
    }


def _packed(data: bytes) -> bytes:
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def _packed_json(value) -> bytes:
    return _packed(json.dumps(value).encode())


def _read(path: Path):
    return json.loads(lzma.decompress(path.read_bytes()))


def _write(path: Path, data: bytes) -> None:
    with writing(path, "wb") as stream:
        stream.write(data)
