"""What this machine says of its PMUs, SMT and NMI watchdog, and of the energy counters of its packages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.counters.passes import CounterSharing

ROOT = Path("/")
_DEVICES = "sys/bus/event_source/devices"


def pmu_type(names: Sequence[str], root: Path = ROOT) -> tuple[str, int] | None:
    """The first of these PMUs that the kernel has, and its number; None if it has none of them."""
    for name in names:
        text = _text_or_empty(root / _DEVICES / name / "type")
        if text.isdigit():
            return name, int(text)
    return None


def pmu_cpus(pmu: str, root: Path = ROOT) -> str:
    """Processors of a hybrid machine's PMU, as ``0-7,16``; empty if the kernel does not say."""
    return _text_or_empty(root / _DEVICES / pmu / "cpus")


def listed_numbers(text: str) -> set[int]:
    """Numbers of a list of the kernel, such as ``0-3,8``; none of an empty one.

    Raises:
        ValueError: it has another form.
    """
    spans = [part.partition("-") for part in text.strip().split(",") if part]
    return {number for low, _, high in spans for number in range(int(low), int(high or low) + 1)}


def counting_machine(root: Path = ROOT) -> CounterSharing:
    """SMT and watchdog now. Unreadable files count as SMT on and watchdog on: fewer counters."""
    smt = _text_or_empty(root / "sys/devices/system/cpu/smt/active") != "0"
    watchdog = _text_or_empty(root / "proc/sys/kernel/nmi_watchdog") != "0"
    return CounterSharing(smt, watchdog)


def pmu_formats(pmu: str, root: Path = ROOT) -> dict[str, str]:
    """Field -> bits of perf_event_attr that hold it, as ``config:0-7,32-35``; {} without a format."""
    folder = root / _DEVICES / pmu / "format"
    return {path.name: _text_or_empty(path) for path in sorted(folder.glob("*"))}


def _text_or_empty(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


# Energy counters of processor packages (RAPL) in ``/sys/class/powercap``: which exist, and their readings.
#
# A package has a folder ``intel-rapl:K`` (also on AMD) with ``name`` (``package-0``, or
# ``package-0-die-1``), ``energy_uj``, which counts microjoules and starts again at ``max_energy_range_uj``,
# and subfolders ``intel-rapl:K:J`` of its parts. Current kernels let only root read ``energy_uj``. Source:
# kernel documentation, Power Capping Framework, and ABI/testing/sysfs-class-powercap.

POWERCAP_CLASS = "sys/class/powercap"
_ZONE = re.compile(r"intel-rapl:\d+", re.ASCII)
_PACKAGE = re.compile(r"package-(\d+)(?:-die-(\d+))?", re.ASCII)
#: No package needs more; with it, a counter's range gives the time that it needs at least to wrap.
MOST_WATTS = 1000.0
READABLE = "run as root, or let this user read it: sudo chmod a+r {path} (until the next boot)"


@dataclass(frozen=True)
class EnergyPackage:
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
            raise _broken_powercap(owner, f"{self.file}: {error.strerror}") from None
        if not (text.isascii() and text.isdigit()) or int(text) > self.range_uj:
            raise _broken_powercap(
                owner, f"{self.file} has '{text[:40]}', no count from 0 to {self.range_uj}"
            )
        return int(text)


def energy_packages(root: Path = ROOT) -> list[EnergyPackage]:
    """Counters of all packages, by socket; none without RAPL.

    Raises:
        TesseraError: a zone of a package has no readable range.
    """
    found = []
    for folder in sorted((root / POWERCAP_CLASS).glob("intel-rapl:*")):
        name = _text_or_empty(folder / "name")
        match = _PACKAGE.fullmatch(name)
        if not _ZONE.fullmatch(folder.name) or match is None:
            continue  # a part of a package, the whole platform (psys), or another control type
        limit = _text_or_empty(folder / "max_energy_range_uj")
        if not (limit.isascii() and limit.isdigit()) or int(limit) == 0:
            raise _broken_powercap(
                f"energy of {name}", f"{folder / 'max_energy_range_uj'} has '{limit[:40]}'"
            )
        found.append(EnergyPackage(folder, int(match[1]), name, int(limit)))
    return sorted(found, key=lambda one: (one.socket, one.name))


def package_of_socket(socket: int, root: Path = ROOT) -> list[EnergyPackage]:
    """Counters of one socket: one, or one for each die.

    Raises:
        TesseraError: there is no RAPL, or not this socket.
    """
    every = energy_packages(root)
    if not every:
        raise TesseraError(
            f"energy of socket {socket}",
            f"{root / POWERCAP_CLASS} has no package: a virtual machine, or the module intel_rapl_msr is not "
            "loaded",
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


def _broken_powercap(owner: str, found: str) -> TesseraError:
    return TesseraError(
        owner, found, "check the kernel's powercap driver, or use --backend perf", exit_code=EXIT_FAILED,
        code="rapl-broken",
    )  # fmt: skip
