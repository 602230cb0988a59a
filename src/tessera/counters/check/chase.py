"""Counts runs of the program ``chase`` and compares them with :mod:`bounds`."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tessera.counters.attributes import Attribute
from tessera.counters.check.bounds import CHASES, FIRST_LOADS, LOADS, Bound, Chase, judged
from tessera.counters.check.kernel import Count, Kernel
from tessera.counters.check.row import DIFFERS, OK, UNPROVEN, Row

#: Runs a program and counts it: (events, command) -> counts by role. Raises ValueError with the reason.
Counter = Callable[[Sequence[Attribute], Sequence[str]], Mapping[str, Count | None]]

_SECONDS = 300
_PR_SET_THP_DISABLE = 41


def counter(kernel: Kernel) -> Counter:
    """Counts from the program's exec to its end. The shell waits until the events are open."""

    def count(events: Sequence[Attribute], command: Sequence[str]) -> dict[str, Count | None]:
        opened: dict[str, int] = {}
        with subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _ && exec "$@"', "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_only_4kb_pages,
        ) as process:
            try:
                for event in events:
                    leader = next(iter(opened.values()), -1)
                    opened[event.role] = kernel.open(event, leader, process.pid, at_exec=True)
                _, errors = process.communicate(b"\n", timeout=_SECONDS)
                if process.returncode:
                    lines = errors.decode(errors="replace").strip().splitlines()
                    raise ValueError(lines[0] if lines else f"status {process.returncode}")
                return {role: kernel.read(descriptor) for role, descriptor in opened.items()}
            except subprocess.TimeoutExpired:
                raise ValueError(f"it did not end in {_SECONDS} s") from None
            except OSError as error:
                raise ValueError(error.strerror or str(error)) from None
            finally:
                process.kill()
                for descriptor in opened.values():
                    kernel.close(descriptor)

    return count


def _only_4kb_pages() -> None:
    """The child and its programs get no transparent huge pages."""
    ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)


def proofs(
    count: Counter,
    program: Path,
    class_name: str,
    name: str,
    events: Sequence[Attribute],
    walkers: int | None,
) -> list[Row]:
    """Rows of one pass: each role in each chase."""
    rows: list[Row] = []
    for chase in CHASES:
        try:
            first, second = (
                _values(count(events, _command(program, chase, loads)))
                for loads in (FIRST_LOADS, FIRST_LOADS + LOADS)
            )
        except (OSError, ValueError) as error:
            subject = f"pass {name}, {chase.name}"
            remedy = f"run it in build/workloads: ./{' '.join(_command(Path(program.name), chase, LOADS))}"
            rows.append(Row(class_name, "proof", subject, "a count", str(error), UNPROVEN, remedy))
            continue
        for bound, value, holds in judged(chase, first, second, walkers):
            rows.append(_row(class_name, name, chase, bound, value, holds))
    return rows


def _values(counts: Mapping[str, Count | None]) -> dict[str, int]:
    wrong = [role for role, count in counts.items() if count is None or not count.whole]
    if wrong:
        raise ValueError(f"not counted all the time: {', '.join(wrong)}")
    return {role: count.value for role, count in counts.items()}


def _command(program: Path, chase: Chase, loads: int) -> list[str]:
    fixed = ["--rounds", "1", "--chains", "1", "--stride", "4KB"]
    return [str(program), "--elements", str(chase.pages), "--accesses", str(loads), *fixed]


def _row(class_name: str, name: str, chase: Chase, bound: Bound, value: int, holds: bool) -> Row:
    what = "while it starts" if bound.total else f"of {LOADS} loads"
    most = "" if bound.most is None else f" to {bound.most:.0f}"
    wanted = f"{bound.least:.0f}{most}{'' if most else ' or more'} {what}"
    subject = f"{bound.role}, {chase.name}, pass {name}"
    if holds:
        return Row(class_name, "proof", subject, wanted, str(value), OK)
    remedy = "compare its code with the source in `tessera counters list --class`; do not measure with it"
    return Row(class_name, "proof", subject, wanted, str(value), DIFFERS, remedy)
