"""``python -m tessera.machine.environment.guardian``: holds changed settings, and undoes them with its owner.

It is a process of its own session, so that neither Ctrl-C nor a closed terminal nor ``kill -9`` of the owner
ends it. It alone changes the machine. It reads one line of JSON (see :mod:`preparation`), answers with one
line, and waits. The owner's end closes the pipe and makes the pidfd readable: either one makes the guardian
undo. The pidfd also works while a process that the owner forked keeps the pipe open. If the guardian is
killed as well, the record of :mod:`tessera.machine.reserve.settings` remains, and the next ``./run`` of any
checkout restores.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.reserve.reservation import restore_leftovers
from tessera.machine.reserve.settings import changed_settings

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def main() -> int:
    """Read the request, hold until the owner ends or closes the pipe, undo; returns the exit status."""
    with _wakened() as wake:
        request = json.loads(sys.stdin.buffer.readline() or b"{}")
        if not request:
            return 0  # the owner ended before it asked
        owner = int(request["owner"])
        watched = [sys.stdin.fileno(), wake, *_pidfd(owner)]
        try:
            with _changed(request, owner) as held:
                _answer({"ready": True, "held": held})
                if os.getppid() == owner:
                    select.select(watched, [], [])
                _quiet()
        except TesseraError as error:
            _answer(_as_json(error))
            return error.exit_code
    restore_leftovers()  # huge pages that a killed owner had reserved
    return 0


@contextlib.contextmanager
def _changed(request: dict, owner: int) -> Iterator[dict[str, str]]:
    """The changes of a request: settings, services, devices held open. Gives the settings as they are."""
    settings = {Path(path): value for path, value in request["settings"]}
    with changed_settings(settings, allowed=True, steps=request["steps"], owner=owner) as shown:
        for number in _ENDING:  # undo in peace instead of raising in the middle of it
            signal.signal(number, lambda *_: None)
        with contextlib.ExitStack() as held:
            for path, data in request["hold"]:
                try:
                    device = held.enter_context(Path(path).open("wb", buffering=0))
                    device.write(bytes.fromhex(data))
                except OSError as error:
                    raise TesseraError(
                        f"hold {path} open", error.strerror or str(error), "run as root of the machine",
                        exit_code=EXIT_FAILED, code="settings/rejected",
                    ) from None  # fmt: skip
            yield shown


@contextlib.contextmanager
def _wakened() -> Iterator[int]:
    """A descriptor that becomes readable at each signal."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(-1)


def _quiet() -> None:
    """From now on signals are ignored: what is left to do is to undo."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def _pidfd(owner: int) -> list[int]:
    """The owner's pidfd; none on kernels before 5.3, or if the owner has ended: the pipe says so, too."""
    try:
        return [os.pidfd_open(owner)]
    except OSError:
        return []


def _answer(reply: dict) -> None:
    with contextlib.suppress(OSError):  # the owner may have ended
        os.write(sys.stdout.fileno(), json.dumps(reply).encode() + b"\n")


def _as_json(error: TesseraError) -> dict:
    names = ("asked", "found", "remedy", "exit_code", "code")
    return {"error": {name: getattr(error, name) for name in names}}


if __name__ == "__main__":
    sys.exit(main())
