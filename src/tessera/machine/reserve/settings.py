"""Settings of the kernel, changed for the duration of a block: only with permission, and always restored.

One process of the machine at a time has changed settings. The values of before are in a record of
:mod:`tessera.machine.reserve.machine_state`. After SIGKILL, the next ``./run`` of any checkout or the next
change restores them (:func:`restore_settings`). A setting that somebody else has changed meanwhile stays as
it is, and the user is told.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.processes import signals_raise
from tessera.machine.reserve.machine_state import (
    Owner,
    is_recorded,
    locked,
    read_record,
    read_unlocked,
    remove_record,
    say,
    write_record,
)
from tessera.machine.reserve.reservation import reserving_allowed

SETTINGS = "settings"
#: In which another process has restored what a killed one left.
RESTORING_SECONDS = 10
_LOST = "The settings that it recorded stay as they are until the next boot: tessera measure environment"


@dataclass(frozen=True)
class Step:
    """A command that changes the machine, and the command that undoes it."""

    do: tuple[str, ...]
    undo: tuple[str, ...]


#: Every step that there is. A record has names of this table, never commands that root would run.
STEPS = {
    "irqbalance": Step(("systemctl", "stop", "irqbalance"), ("systemctl", "start", "irqbalance")),
}


@dataclass
class SettingsRecord:
    """What is changed now, by the path of a setting.

    Attributes:
        before: the value to restore.
        ours: values that count as ours: the one that was asked for, and the one that the kernel showed then.
        steps: names of :data:`STEPS`, to undo.
        restoring: paths that were ours when their owner began to restore; None: it has not begun.
    """

    owner: Owner
    before: dict[str, str]
    ours: dict[str, list[str]]
    steps: list[str] = field(default_factory=list)
    restoring: list[str] | None = None

    @classmethod
    def parsed(cls, facts: dict[str, Any]) -> SettingsRecord:
        """Raises KeyError, TypeError, ValueError or AttributeError, also for an unknown step."""
        before = {str(path): _word(value) for path, value in facts["before"].items()}
        ours = {path: [_word(value) for value in facts["ours"][path]] for path in before}
        if unknown := [name for name in facts["steps"] if name not in STEPS]:
            raise ValueError(f"{unknown[0]!r} is none of the steps {', '.join(STEPS)}")
        restoring = facts["restoring"]
        if restoring is not None and not set(restoring) <= set(before):
            raise ValueError("'restoring' names other paths than 'before'")
        return cls(Owner.parsed(facts["owner"]), before, ours, list(facts["steps"]), restoring)

    def write(self) -> None:
        """Put it on disk."""
        write_record(SETTINGS, asdict(self))


def chosen_word(path: Path) -> str:
    """The value of a setting: the word in brackets, if the file lists several."""
    text = path.read_text().strip()
    found = re.search(r"\[(.*?)\]", text)
    return found.group(1) if found else text


@contextmanager
def changed_settings(
    wanted: Mapping[Path, str],
    *,
    allowed: bool | None = None,
    steps: Sequence[str] = (),
    owner: int | None = None,
) -> Iterator[dict[str, str]]:
    """Give kernel settings (file -> value) these values inside the block; restore them afterwards.

    Gives the settings as they are when all is changed (path -> value), but those that can't be read then.

    Args:
        allowed: permission; None: as :func:`tessera.machine.reserve.reserving_allowed` says.
        steps: names of :data:`STEPS` to do as well, after the settings; they are undone before the settings.
        owner: process that asked for the change, named to others that want one; None: this one.

    Raises:
        TesseraError: no permission (``settings/permission``), another process has changed settings
            (``settings/busy``), a killed one's can't be restored (``settings/left``), the kernel rejects a
            value or a command fails (``settings/rejected``), or there is no place for the record
            (``machine-state``).
    """
    if unknown := [name for name in steps if name not in STEPS]:
        raise unknown_name("step", unknown[0], tuple(STEPS))
    words = [*map(str, wanted), *(shlex.join(STEPS[name].do) for name in steps)]
    names = ", ".join(words) or "the memory of this machine"
    if not (reserving_allowed() if allowed is None else allowed):
        raise TesseraError(
            f"change {names}", "you did not allow changes of this machine", "./run --reserve tessera ...",
            code="settings/permission",
        )  # fmt: skip
    with signals_raise(), _sole_owner(names):
        _restore_left()
        before = {str(path): _read(path) for path in wanted if path.exists()}
        targets = {str(path): [value] for path, value in wanted.items() if str(path) in before}
        record = SettingsRecord(Owner.of(owner or os.getpid()), before, targets, list(steps))
        record.write()
        try:
            for path, value in wanted.items():
                _write(path, value)
            for name in steps:
                _command(STEPS[name].do)
            held = _held(record)
            yield held
        finally:
            _restore(record)
            remove_record(SETTINGS)


def restore_settings() -> list[str]:
    """Restore what killed processes left changed; returns the files, and the commands that were run.

    What can't be restored stays recorded, and the user is told.
    """
    if not is_recorded(SETTINGS):
        return []
    try:
        with locked(SETTINGS, wait=False) as ours:
            return _restore_left() if ours else []  # else its owner lives
    except TesseraError as error:
        say(error.one_line)
        return []


def _restore_left() -> list[str]:
    """Under the lock: restore what a killed process left.

    Raises:
        TesseraError: it can't be restored (``settings/left``); the record stays.
    """
    record = read_record(SETTINGS, SettingsRecord.parsed, _LOST)
    if record is None:
        return []
    try:
        found = _restore(record)
    except TesseraError as error:
        raise TesseraError(
            "restore settings that a killed run left changed", f"{record.owner} left them; {error.problem}",
            "run it as root of the machine, or restart the machine, which restores its defaults",
            exit_code=EXIT_FAILED, code="settings/left",
        ) from None  # fmt: skip
    remove_record(SETTINGS)
    return found


@contextmanager
def _sole_owner(names: str) -> Iterator[None]:
    """Inside, no other process changes settings. One that only restores what another left is waited for.

    Raises:
        TesseraError: another process has changed settings: which one, and since when (``settings/busy``).
    """
    with ExitStack() as stack:
        end = time.monotonic() + RESTORING_SECONDS
        while not stack.enter_context(locked(SETTINGS, wait=False)):
            owner = _holder()
            if (owner and owner.lives()) or time.monotonic() > end:
                raise TesseraError(
                    f"change {names}", f"{owner or 'another process'} has changed settings of this machine",
                    "wait until it has ended, or end it; it restores them",
                    code="settings/busy",
                )  # fmt: skip
            time.sleep(0.05)
        yield


def _holder() -> Owner | None:
    """The process that asked for the settings that are changed now; None if it has not written that yet."""
    try:
        return Owner.parsed(read_unlocked(SETTINGS)["owner"])
    except (ValueError, KeyError, TypeError):
        return None


def _held(record: SettingsRecord) -> dict[str, str]:
    """The settings as the kernel shows them now, which the record notes where it shows another text."""
    found = {path: _now(path) for path in record.before}
    # None: that of a processor that another setting has taken away.
    held = {path: value for path, value in found.items() if value is not None}
    if any(value not in record.ours[path] for path, value in held.items()):
        for path, value in held.items():
            record.ours[path] = list(dict.fromkeys([*record.ours[path], value]))
        record.write()
    return held


def _restore(record: SettingsRecord) -> list[str]:
    """Restore all that can be; then raise the first error. Returns the files, and the commands that were run.

    Whether a setting is ours is decided for all of them before the first one is restored: a processor that
    SMT brings back is online, whoever had turned it off. Those that can't be read are decided at their turn.
    """
    now = {path: _now(path) for path in record.before}
    unsure = [path for path, value in now.items() if value is None]
    if record.restoring is None:
        record.restoring = [path for path, value in now.items() if value in (None, *record.ours[path])]
        for path, value in now.items():
            if path not in record.restoring:
                _say_left(record, path, value)
        with suppress(TesseraError):  # a full disk: the record of before is there, and this is done without
            if record.restoring:
                record.write()
    found, failed = [], []
    for name in reversed(record.steps):
        try:
            _command(STEPS[name].undo)
            found.append(shlex.join(STEPS[name].undo))
        except TesseraError as error:
            failed.append(error)
    for path in reversed(record.restoring):
        try:
            value = _read(Path(path))
            if path in unsure and value not in record.ours[path]:
                _say_left(record, path, value)
            elif value != record.before[path]:
                _write(Path(path), record.before[path])
                found.append(path)
        except TesseraError as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return found


def _say_left(record: SettingsRecord, path: str, value: str | None) -> None:
    """Tell the user about a value of somebody else; the value of before is none."""
    if value != record.before[path]:
        say(
            f"{path} is '{value}', and Tessera had set '{record.ours[path][-1]}'. Somebody else has changed "
            f"it, so it stays; before, it was '{record.before[path]}'"
        )


def _now(path: str) -> str | None:
    try:
        return chosen_word(Path(path))
    except OSError:
        return None


def _read(path: Path) -> str:
    try:
        return chosen_word(path)
    except OSError as error:
        raise _rejected(f"read {path}", error.strerror or str(error)) from None


def _write(path: Path, value: str) -> None:
    """Nothing is written if the setting has the value."""
    if _now(str(path)) == value:
        return
    try:
        path.write_text(value)
    except OSError as error:
        raise _rejected(f"write '{value}' to {path}", error.strerror or str(error)) from None


#: For a command that starts or stops a service; systemd itself gives a service 90 s.
_COMMAND_SECONDS = 120


def _command(argv: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_COMMAND_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise _rejected(f"run '{shlex.join(argv)}'", f"it did not end within {_COMMAND_SECONDS} s") from None
    except OSError as error:
        raise _rejected(f"run '{shlex.join(argv)}'", error.strerror or str(error)) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise _rejected(f"run '{shlex.join(argv)}'", lines[-1] if lines else f"status {done.returncode}")


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no value of a setting")
    return value


def _rejected(asked: str, found: str) -> TesseraError:
    return TesseraError(
        asked,
        found,
        "run as root of the machine, outside of containers, on a kernel that has this setting",
        exit_code=EXIT_FAILED,
        code="settings/rejected",
    )
