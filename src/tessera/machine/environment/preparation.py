"""Examine all conditions before a run, and set what can be undone for the duration of a block."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.processes import module_command, signals_raise
from tessera.machine.environment import kernel, pages, processor
from tessera.machine.environment.condition import (
    DIFFERS,
    UNKNOWN,
    Change,
    Condition,
    ConditionRule,
    Hold,
    KernelSetting,
    Needs,
    Service,
    SystemFiles,
    UnreadableFact,
)
from tessera.machine.reserve.settings import STEPS, chosen_word

# All conditions that can be read before a run, and their file.

#: Every rule, in the order of the table. A new condition is one more rule in one of these modules.
RULES: tuple[ConditionRule, ...] = (
    *kernel.COUNTING_RULES,
    *pages.PAGE_RULES,
    *processor.PROCESSOR_RULES,
    *kernel.KERNEL_RULES,
    *processor.TUNING_RULES,
    *processor.FIRMWARE_RULES,
)
#: Names of the conditions that :func:`examine_conditions` reads.
CHECKS = tuple(rule.check for rule in RULES)


def examine_conditions(root: Path = Path("/"), needs: Needs = Needs()) -> list[Condition]:  # noqa: B008 (it is frozen)
    """Every condition as it is now, in the order of :data:`CHECKS`; reads files below ``root`` only.

    What cannot be read has the status ``unknown``, and the reason in ``found``.
    """
    tree = SystemFiles(Path(root))
    return [rule.condition(tree, needs) for rule in RULES]


def as_csv(conditions: Iterable[Condition]) -> str:
    """Content of ``environment.csv``: check, level, wanted, found, status, remedy."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(Condition))
    writer.writerows(map(astuple, conditions))
    return stream.getvalue()


# Set what can be undone for the duration of a block; a guardian process undoes it, also after ``kill -9``.
#
# The owner asks the guardian with one line of JSON: its process number, the settings, the names of services
# to stop, the devices to hold. Steps that cannot be undone are :func:`free_memory` only.

_UNDOING_SECONDS = 60


@dataclass(frozen=True)
class MachineChanges:
    """``changes`` can be undone. ``left`` are conditions that are not met, and that no change meets."""

    changes: tuple[Change, ...]
    left: tuple[Condition, ...]

    def lines(self) -> list[str]:
        """What will be changed, one line each."""
        return [_described(change) for change in self.changes]


class Guardian:
    """A running guardian; :meth:`check` says whether the settings still hold.

    Args:
        held: settings (path -> value) as they were when all was changed.
    """

    def __init__(self, process: subprocess.Popen, held: Mapping[str, str]):
        self._process, self._held = process, held

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Between two runs: raises if the settings are no longer those that the runs were to have.

        Raises:
            TesseraError: the guardian has ended, so that the settings of before are back
                (``environment/guardian``), or somebody else has changed one (``environment/changed``).
        """
        if self._process.poll() is not None:
            raise TesseraError(
                "the settings of --fix", f"their guardian (process {self.pid}) has ended",
                "runs since then had other settings: measure them again",
                exit_code=EXIT_FAILED, code="environment/guardian",
            )  # fmt: skip
        for path, value in self._held.items():
            try:
                now = chosen_word(Path(path))
            except OSError as error:
                now = error.strerror or str(error)
            if now != value:
                raise TesseraError(
                    "the settings of --fix",
                    f"{path} is '{now}' in place of '{value}': somebody else has changed it",
                    "stop what changes it; runs since the last check had other settings: measure them again",
                    exit_code=EXIT_FAILED, code="environment/changed",
                )  # fmt: skip


def plan_changes(root: Path = Path("/"), needs: Needs = Needs(), *, no_turbo: bool = False) -> MachineChanges:  # noqa: B008
    """Changes for the conditions that are not met. Changes of SMT come last: it takes processors away.

    Args:
        no_turbo: turn turbo off, too. The machines of MICRO'20 had it on, so this is never a default.
    """
    tree = SystemFiles(Path(root))
    changes: list[Change] = list(processor.turbo_off(tree)) if no_turbo else []
    left: list[Condition] = []
    for rule in sorted(RULES, key=lambda rule: rule.check == "smt"):
        condition = rule.condition(tree, needs)
        if condition.status not in (DIFFERS, UNKNOWN):
            continue
        try:
            found = list(rule.fix(tree)) if condition.status == DIFFERS else []
        except UnreadableFact:
            found = []
        changes += found
        if not found:
            left.append(condition)
    return MachineChanges(tuple(changes), tuple(left))


@contextmanager
def fixed(planned: MachineChanges) -> Iterator[Guardian]:
    """Inside, the changes of the plan hold. They are undone at the end, or when this process ends.

    Raises:
        TesseraError: another process has changed settings (``settings/busy``), the kernel rejects one
            (``settings/rejected``), or one could not be undone (the same code).
    """
    with signals_raise():
        process = subprocess.Popen(
            module_command("tessera.machine.environment.guardian"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            process.stdin.write(_request(planned.changes))
            process.stdin.flush()
            yield Guardian(process, _held(process.stdout.readline(), process))
        finally:
            _undo(process)


def _request(changes: Sequence[Change]) -> bytes:
    request = {
        "owner": os.getpid(),
        "settings": [(str(c.path.absolute()), c.value) for c in changes if isinstance(c, KernelSetting)],
        "steps": [c.name for c in changes if isinstance(c, Service)],
        "hold": [(str(c.path.absolute()), c.data.hex()) for c in changes if isinstance(c, Hold)],
    }
    return json.dumps(request).encode() + b"\n"


def _undo(process: subprocess.Popen) -> None:
    """Close the pipe and wait; an error of the guardian is raised here if no other is on its way."""
    process.stdin.close()
    try:
        process.wait(_UNDOING_SECONDS)
    except subprocess.TimeoutExpired:
        raise TesseraError(
            "undo the settings of --fix",
            f"the guardian (process {process.pid}) needs more than {_UNDOING_SECONDS} s",
            "wait until it has ended, then: ./run tessera measure environment",
            exit_code=EXIT_FAILED, code="environment/guardian",
        ) from None  # fmt: skip
    rest = process.stdout.readline()
    process.stdout.close()
    if process.returncode and sys.exc_info()[0] is None:
        _held(rest, process)


def _held(line: bytes, process: subprocess.Popen) -> dict[str, str]:
    """The settings as the guardian found them when it was ready; raises what it answered else."""
    reply = json.loads(line) if line else {}
    if reply.get("ready"):
        return reply["held"]
    if "error" in reply:
        facts = reply["error"]
        raise TesseraError(
            facts["asked"], facts["found"], facts["remedy"], exit_code=facts["exit_code"], code=facts["code"]
        )
    raise TesseraError(
        "the settings of --fix", f"their guardian (process {process.pid}) has ended without an answer",
        "./run tessera measure environment: it restores what is left changed; then try again",
        exit_code=EXIT_FAILED, code="environment/guardian",
    )  # fmt: skip


def _described(change: Change) -> str:
    if isinstance(change, KernelSetting):
        return f"write '{change.value}' to {change.path}"
    if isinstance(change, Service):
        step = STEPS[change.name]
        return f"run {' '.join(step.do)}; afterwards {' '.join(step.undo)}"
    return f"hold {change.path} open"


def free_memory(root: Path = Path("/")) -> None:
    """Drop the page cache and compact memory. Nothing undoes this, so callers ask first.

    Raises:
        TesseraError: the kernel rejects a value (``settings/rejected``).
    """
    tree = SystemFiles(Path(root))
    os.sync()
    for effect, name, value in pages.IRREVERSIBLE:
        try:
            tree.path(name).write_text(value)
        except OSError as error:
            raise TesseraError(
                effect, f"/{name}: {error.strerror}", f"as root: echo {value} | sudo tee /{name}",
                exit_code=EXIT_FAILED, code="settings/rejected",
            ) from None  # fmt: skip
