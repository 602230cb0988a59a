"""Settings of the kernel, changed for the duration of a block: only with permission, and always restored.

The values of before are in a file of ``.tessera/settings/``, held locked by its owner. After SIGKILL, the
next ``./run`` or the next change restores them (:func:`restore_settings`).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import repo_root
from tessera.core.processes import signals_raise
from tessera.machine.reserve.reservation import BOOT_ID, ownerless, reserving_allowed

#: A command that changes the machine, and the command that undoes it.
Step = tuple[Sequence[str], Sequence[str]]


def settings_folder() -> Path:
    """``.tessera/settings`` of the checkout, created."""
    folder = repo_root() / ".tessera" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
    steps: Sequence[Step] = (),
    owner: int | None = None,
) -> Iterator[None]:
    """Give kernel settings (file -> value) these values inside the block; restore them afterwards.

    Args:
        allowed: permission; None: as :func:`tessera.machine.reserve.reserving_allowed` says.
        steps: commands to run as well, after the settings; they are undone before the settings.
        owner: process that asked for the change, named to others that want one; None: this one.

    Raises:
        TesseraError: no permission (``settings/permission``), another process has changed settings
            (``settings/busy``), or the kernel rejects a value or a command fails (``settings/rejected``).
    """
    names = (
        ", ".join([*map(str, wanted), *(shlex.join(do) for do, _ in steps)]) or "the memory of this machine"
    )
    if not (reserving_allowed() if allowed is None else allowed):
        raise TesseraError(
            f"change {names}", "you did not allow changes of this machine", "./run --reserve tessera ...",
            code="settings/permission",
        )  # fmt: skip
    restore_settings()
    with signals_raise(), (settings_folder() / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TesseraError(
                f"change {names}", f"{_holder()} has changed settings", "wait until it has ended",
                code="settings/busy",
            ) from None  # fmt: skip
        record = settings_folder() / f"{os.getpid()}.json"
        # The record gets its name when it is locked and complete: no one takes it for a killed process's.
        unfinished = record.with_suffix(".new")
        with unfinished.open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            before = {str(path): _read(path) for path in wanted if path.exists()}
            undo = [list(undo) for _, undo in steps]
            facts = {"boot_id": BOOT_ID.read_text().strip(), "owner": owner or os.getpid()}
            json.dump(facts | {"before": before, "undo": undo}, stream)
            stream.flush()
            os.fsync(stream.fileno())
            unfinished.rename(record)
            try:
                for path, value in wanted.items():
                    _write(path, value)
                for do, _ in steps:
                    _command(do)
                yield
            finally:
                _restore(before, undo)
                record.unlink(missing_ok=True)


def restore_settings() -> list[str]:
    """Restore what killed processes left changed; returns the files, and the commands that were run."""
    found: list[str] = []
    for record in settings_folder().glob("*.json"):
        with ownerless(record) as stream:
            if stream is None:
                continue
            content = stream.read()
            facts = json.loads(content) if content else {}  # empty: its owner had changed nothing
            if facts.get("boot_id") == BOOT_ID.read_text().strip():  # a reboot restores the defaults
                undo = facts.get("undo", [])
                _restore(facts["before"], undo)
                found += [*facts["before"], *map(shlex.join, undo)]
            record.unlink(missing_ok=True)
    return found


def _holder() -> str:
    """The process that asked for the settings that are changed now, with its command."""
    for record in settings_folder().glob("*.json"):
        try:
            owner = int(json.loads(record.read_text())["owner"])
            argv = Path(f"/proc/{owner}/cmdline").read_bytes().split(b"\0")[:-1]
        except (OSError, ValueError, KeyError):
            continue
        return f"process {owner} ({shlex.join(word.decode(errors='replace') for word in argv)})"
    return "another process"


def _restore(before: Mapping[str, str], undo: Sequence[Sequence[str]] = ()) -> None:
    """Restore all that can be; then raise the first error."""
    actions = [(_command, (argv,)) for argv in reversed(undo)]
    actions += [(_write, (Path(path), value)) for path, value in reversed(before.items())]
    failed = []
    for action, arguments in actions:
        try:
            action(*arguments)
        except TesseraError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def _read(path: Path) -> str:
    try:
        return chosen_word(path)
    except OSError as error:
        raise _rejected(f"read {path}", error.strerror or str(error)) from None


def _write(path: Path, value: str) -> None:
    try:
        path.write_text(value)
    except OSError as error:
        raise _rejected(f"write '{value}' to {path}", error.strerror or str(error)) from None


def _command(argv: Sequence[str]) -> None:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise _rejected(f"run '{shlex.join(argv)}'", error.strerror or str(error)) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise _rejected(f"run '{shlex.join(argv)}'", lines[-1] if lines else f"status {done.returncode}")


def _rejected(asked: str, found: str) -> TesseraError:
    return TesseraError(
        asked,
        found,
        "run as root of the machine, outside of containers, on a kernel that has this setting",
        exit_code=EXIT_FAILED,
        code="settings/rejected",
    )
