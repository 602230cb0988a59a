"""Breakpoints in the executable of a traced process: at markers of the region of interest, and at its entry.

Addresses are virtual, in bytes. A breakpoint replaces the first byte of an instruction. The places of removed
ones are remembered: a thread that met one before has its stop handled later.
"""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

from tessera.mosalloc import ptrace

#: nopl with a displacement that spells TSRB or TSRE.
MARKERS = {"begin": b"\x0f\x1f\x80TSRB", "end": b"\x0f\x1f\x80TSRE"}
_BREAKPOINT = b"\xcc"
_AT_ENTRY = 9


class Breakpoints:
    """Of one program that was just executed by process ``pid``.

    Attributes:
        markers: kind of marker -> its addresses in the code of the executable.
    """

    def __init__(self, pid: int):
        self._pid = pid
        self._patched: dict[int, bytes] = {}
        self._removed: set[int] = set()
        self._entry = 0
        self.markers = {kind: self._places(marker) for kind, marker in MARKERS.items()}

    def set_at_markers(self, kind: str) -> None:
        """Set one at each marker of a kind; none if the kind is no marker's."""
        for place in self.markers.get(kind, ()):
            self._patch(place)

    def set_at_entry(self) -> None:
        """Set one where the program begins, after the libraries are loaded and initialised."""
        auxiliary = Path(f"/proc/{self._pid}/auxv").read_bytes()
        self._entry = dict(struct.iter_unpack("<QQ", auxiliary))[_AT_ENTRY]
        self._patch(self._entry)

    def is_known(self, place: int) -> bool:
        """Whether a breakpoint is or was here."""
        return place in self._patched or place in self._removed

    def is_set(self, place: int) -> bool:
        return place in self._patched

    def is_entry(self, place: int) -> bool:
        return place == self._entry

    def remove(self, place: int) -> None:
        """Write the replaced byte back."""
        ptrace.write_memory(self._pid, place, self._patched.pop(place))
        self._removed.add(place)

    def remove_all(self) -> None:
        """The same for each; those whose memory is gone are forgotten."""
        for place in list(self._patched):
            try:
                self.remove(place)
            except OSError:  # its memory is gone
                self._patched.pop(place, None)

    def restore_in(self, tid: int) -> None:
        """Write the replaced bytes into the memory of a forked child."""
        for place, byte in self._patched.items():
            ptrace.write_memory(tid, place, byte)

    def _places(self, marker: bytes) -> list[int]:
        executable, found = os.path.realpath(f"/proc/{self._pid}/exe"), []
        for line in Path(f"/proc/{self._pid}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[5] == executable and "x" in fields[1]:
                low, high = (int(word, 16) for word in fields[0].split("-"))
                code = ptrace.read_memory(self._pid, low, high - low)
                found += [low + match.start() for match in re.finditer(re.escape(marker), code)]
        return found

    def _patch(self, place: int) -> None:
        self._patched[place] = ptrace.read_memory(self._pid, place, 1)
        ptrace.write_memory(self._pid, place, _BREAKPOINT)
