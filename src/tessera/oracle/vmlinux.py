"""Addresses and layouts of the kernel's data: the description that ``artifacts/kernel/oracle/describe.py``
made of its vmlinux."""

from __future__ import annotations

import json
from pathlib import Path

from tessera.core.errors import TesseraError

#: The next step after a difference of versions.
REMEDY = "compare the kernel's version with artifacts/kernel/SOURCE, and the list of names in describe.py"


class Vmlinux:
    """Symbols, structs and enumerators of a kernel.

    Args:
        path: JSON with ``symbols``, ``structs`` and ``enumerators``.
    """

    def __init__(self, path: Path):
        self.path = path
        described = json.loads(path.read_text())
        self._symbols: dict[str, int] = described["symbols"]
        self._structs: dict[str, dict] = described["structs"]
        self._enumerators: dict[str, int] = described["enumerators"]

    def address(self, symbol: str) -> int:
        """Virtual address of a symbol."""
        return self._of(self._symbols, symbol, "symbol")

    def value(self, enumerator: str) -> int:
        """Value of an enumerator."""
        return self._of(self._enumerators, enumerator, "enumerator")

    def size(self, struct: str) -> int:
        """Size of a struct in bytes."""
        return self._of(self._structs, struct, "struct")["size"]

    def offset(self, struct: str, member: str) -> int:
        """Bytes from the start of a struct to a member; members of anonymous parts count as its own."""
        members = self._of(self._structs, struct, "struct")["members"]
        return self._of(members, member, f"struct {struct}, member")

    def _of(self, names: dict, name: str, kind: str):
        if name not in names:
            raise TesseraError(f"{kind} {name} of the kernel", f"{self.path} does not have it", REMEDY)
        return names[name]
