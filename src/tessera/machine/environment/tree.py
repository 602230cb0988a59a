"""Files of the kernel below a root folder: ``/``, or a copy of ``sys``, ``proc`` and ``dev`` in tests."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path


class Unreadable(Exception):
    """A fact that cannot be read; the text is the reason."""


@dataclass(frozen=True)
class Tree:
    """Reads only. Names are relative to ``root`` and have no leading slash: ``proc/sys/vm/nr_hugepages``."""

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        return self.root / name

    def text(self, name: str) -> str:
        """Content without surrounding white space.

        Raises:
            Unreadable: with the file and the kernel's reason.
        """
        return self.bytes(name, 1 << 20).decode(errors="replace").strip()

    def bytes(self, name: str, count: int, offset: int = 0) -> bytes:
        """Up to ``count`` bytes from ``offset``; raises :class:`Unreadable`."""
        try:
            descriptor = os.open(self.path(name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                if offset:
                    return os.pread(descriptor, count, offset)
                parts = []
                while part := os.read(descriptor, count):
                    parts.append(part)
                    count -= len(part)
                    if count <= 0:
                        break
                return b"".join(parts)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Unreadable(f"/{name}: {os.strerror(error.errno or errno.EIO)}") from None

    def number(self, name: str) -> int:
        """A decimal number; raises :class:`Unreadable`."""
        text = self.text(name)
        if not re.fullmatch(r"-?\d+", text):
            raise Unreadable(f"/{name}: '{text[:40]}' is not a number")
        return int(text)

    def chosen(self, name: str) -> str:
        """The word in brackets of a list of words (``always [madvise] never``), else the whole text."""
        text = self.text(name)
        found = re.search(r"\[(.*?)\]", text)
        return found.group(1) if found else text

    def names(self, pattern: str) -> list[str]:
        """Names that match a pattern, numbers in their order (cpu2 before cpu10)."""
        found = [str(path.relative_to(self.root)) for path in self.root.glob(pattern)]
        return sorted(
            found, key=lambda name: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]
        )

    def has(self, name: str) -> bool:
        return self.path(name).exists()

    def lacks(self, folder: str, name: str) -> bool:
        """Whether the folder can be read and has no such entry: this kernel does not have the feature."""
        try:
            return bool(entries := os.listdir(self.path(folder))) and name not in entries
        except OSError:
            return False

    def cpu_facts(self) -> dict[str, str]:
        """The first processor of ``/proc/cpuinfo``; raises :class:`Unreadable`."""
        block = self.text("proc/cpuinfo").split("\n\n", 1)[0]
        facts = dict(line.partition(":")[::2] for line in block.splitlines())
        return {key.strip(): value.strip() for key, value in facts.items()}

    def cpu_flags(self) -> list[str]:
        """Flags of the first processor; raises :class:`Unreadable`."""
        facts = self.cpu_facts()
        if "flags" not in facts:
            raise Unreadable("/proc/cpuinfo: no line 'flags'")
        return facts["flags"].split()
