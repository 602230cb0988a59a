"""Runs of the imitation's programs on states and events of the guest."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError

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


def printed(program: Path, words: Sequence[str], files: Mapping[str, str], about: str) -> str:
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


def text_of(lines: Sequence[str]) -> str:
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
        (folder / "events").write_text(text_of(events))
        command = [program, "replay", folder / "events", "--snapshot", folder / "snapshot"]
        command += ["--write-snapshot", folder / "end"] + (["--decisions"] if decisions else [])
        with (folder / "output").open("w") as stream:
            done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True)
        output = (folder / "output").read_text()
        if done.returncode != 0:
            raise _refused(f"'{program.name} replay' from a state of the guest", done)
        return Replay(outcomes(output), without_used((folder / "end").read_text()), output)


def outcomes(output: str) -> dict[int, int]:
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
