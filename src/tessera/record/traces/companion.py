"""A callable that runs beside a recorded program: a server's load, which also stops the server."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tessera.machine.container.process import stop


class Companion(Protocol):
    """Called once, in a separate thread, after the program has started.

    Contract: it returns when its work is done, and has ended ``program`` then unless that ends by itself; it
    gives up when ``program`` ends early. What it raises is raised where the program was started, after the
    program's end.
    """

    def __call__(self, program: subprocess.Popen) -> None: ...


@contextmanager
def beside(program: subprocess.Popen, companion: Companion | None) -> Iterator[None]:
    """Run ``companion`` while the block waits for ``program``."""
    if companion is None:
        yield
        return
    failure: list[BaseException] = []

    def work() -> None:
        try:
            companion(program)
        except BaseException as error:  # raised again below, in the thread that can be seen
            failure.append(error)
            stop(program)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()
    if failure:
        raise failure[0]
