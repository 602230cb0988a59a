"""Energy counters of processor packages (RAPL) in ``/sys/class/powercap``: which exist, and their readings.

A package has a folder ``intel-rapl:K`` (also on AMD) with ``name`` (``package-0``, or ``package-0-die-1``),
``energy_uj``, which counts microjoules and starts again at ``max_energy_range_uj``, and subfolders
``intel-rapl:K:J`` of its parts. Current kernels let only root read ``energy_uj``. Source: kernel
documentation, Power Capping Framework, and ABI/testing/sysfs-class-powercap. Only the standard library is
used (the doctor).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError

CLASS = "sys/class/powercap"
ROOT = Path("/")
_ZONE = re.compile(r"intel-rapl:\d+", re.ASCII)
_PACKAGE = re.compile(r"package-(\d+)(?:-die-(\d+))?", re.ASCII)
#: No package needs more; with it, a counter's range gives the time that it needs at least to wrap.
MOST_WATTS = 1000.0
READABLE = "run as root, or let this user read it: sudo chmod a+r {path} (until the next boot)"


@dataclass(frozen=True)
class Package:
    """Counter of one package, or of one die of it."""

    folder: Path
    socket: int
    name: str
    range_uj: int  #: the counter is below or equal to this

    @property
    def file(self) -> Path:
        return self.folder / "energy_uj"

    @property
    def seconds_to_wrap(self) -> float:
        """Least time between two wraps, at :data:`MOST_WATTS`."""
        return self.range_uj / 1e6 / MOST_WATTS

    def read_uj(self) -> int:
        """The counter now.

        Raises:
            TesseraError: no permission, the file is missing, or it holds no count within the range.
        """
        owner = f"energy of {self.name}"
        try:
            text = self.file.read_text().strip()
        except PermissionError:
            found = f"this user may not read {self.file}"
            raise TesseraError(
                owner, found, READABLE.format(path=self.file), exit_code=EXIT_FAILED, code="rapl-permission"
            ) from None
        except OSError as error:
            raise _broken(owner, f"{self.file}: {error.strerror}") from None
        if not (text.isascii() and text.isdigit()) or int(text) > self.range_uj:
            raise _broken(owner, f"{self.file} has '{text[:40]}', no count from 0 to {self.range_uj}")
        return int(text)


def packages(root: Path = ROOT) -> list[Package]:
    """Counters of all packages, by socket; none without RAPL.

    Raises:
        TesseraError: a zone of a package has no readable range.
    """
    found = []
    for folder in sorted((root / CLASS).glob("intel-rapl:*")):
        name = _text(folder / "name")
        match = _PACKAGE.fullmatch(name)
        if not _ZONE.fullmatch(folder.name) or match is None:
            continue  # a part of a package, the whole platform (psys), or another control type
        limit = _text(folder / "max_energy_range_uj")
        if not (limit.isascii() and limit.isdigit()) or int(limit) == 0:
            raise _broken(f"energy of {name}", f"{folder / 'max_energy_range_uj'} has '{limit[:40]}'")
        found.append(Package(folder, int(match[1]), name, int(limit)))
    return sorted(found, key=lambda one: (one.socket, one.name))


def of_socket(socket: int, root: Path = ROOT) -> list[Package]:
    """Counters of one socket: one, or one for each die.

    Raises:
        TesseraError: there is no RAPL, or not this socket.
    """
    every = packages(root)
    if not every:
        raise TesseraError(
            f"energy of socket {socket}",
            f"{root / CLASS} has no package: a virtual machine, or the module intel_rapl_msr is not loaded",
            "load it: sudo modprobe intel_rapl_msr; or measure on another machine; or use --backend perf",
            exit_code=EXIT_FAILED,
            code="rapl-absent",
        )
    found = [one for one in every if one.socket == socket]
    if not found:
        sockets = sorted({one.socket for one in every})
        raise TesseraError(
            f"energy of socket {socket}",
            f"packages are those of sockets {', '.join(map(str, sockets))}",
            f"give --socket {sockets[0]}",
            code="rapl-socket",
        )
    return found


def difference_uj(before: int, after: int, range_uj: int) -> int:
    """Microjoules from one reading to a later one; the counter wrapped at most once in between."""
    return after - before if after >= before else after - before + range_uj + 1


def _broken(owner: str, found: str) -> TesseraError:
    return TesseraError(
        owner, found, "check the kernel's powercap driver, or use --backend perf", exit_code=EXIT_FAILED,
        code="rapl-broken",
    )  # fmt: skip


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
