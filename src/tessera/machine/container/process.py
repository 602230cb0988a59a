"""Processes that never outlive the command that started them.

A container of docker is a child of the engine, so it would continue after its client is killed. Therefore
the client gets a signal when this process ends (``setpriv --pdeathsig``) and passes it to the container.
Terminating or killing the process object kills the container by name. What a killed process leaves all the
same is found by its label (:func:`end_containers`).
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.processes import WorkMark, signals_raise
from tessera.machine.container.engine import MARK_LABEL, docker

#: The kernel sends the program SIGTERM when the thread that started it ends for any reason.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")

#: Waits for the program without a limit and passes signals on to it. Apptainer changes its credentials, and
#: the kernel then forgets :data:`DIE_WITH_PARENT`; this process doesn't.
FORWARD = ("timeout", "--foreground", "0")

#: Seconds that a program gets between SIGTERM and SIGKILL.
GRACE_SECONDS = 5


class ContainerProcess(subprocess.Popen):
    """The docker client of one container; ``terminate`` and ``kill`` reach the container.

    Start it and wait for it in the same thread: it ends with the thread that started it.
    """

    def __init__(self, argv: list[str], *, name: str, **keywords):
        self.container_name = name
        self._container_ended = False
        super().__init__([*DIE_WITH_PARENT, *argv], **keywords)

    def wait(self, timeout: float | None = None) -> int:
        """The client's status. One that failed, as when nobody reads its output, leaves its container."""
        status = super().wait(timeout)
        if status != 0 and not self._container_ended:
            self._container_ended = True
            docker("rm", "--force", self.container_name)  # fails if the container is gone already: fine
        return status

    def kill(self) -> None:
        """Kill the container, then its client."""
        try:
            docker("kill", self.container_name)  # fails if the container is gone already: fine
        finally:
            super().kill()

    def terminate(self) -> None:
        """SIGTERM to the program in the container; the client ends with it."""
        if self.poll() is None:
            answered = False
            try:
                answered = docker("kill", "--signal", "TERM", self.container_name).returncode == 0
            finally:
                if not answered:  # not started yet, or the engine hangs
                    super().terminate()


def end_containers(is_wanted: Callable[[WorkMark], bool]) -> list[str]:
    """Kill and remove the containers with such a mark, of all states; returns their ids.

    Raises:
        TesseraError: Docker does not list its containers, or keeps one (``code`` is ``containers-left``).
    """
    form = f'{{{{.ID}}}} {{{{.Label "{MARK_LABEL}"}}}}'
    listed = docker("ps", "--all", "--filter", f"label={MARK_LABEL}", "--format", form)
    lines = [line.partition(" ")[::2] for line in listed.stdout.splitlines()]
    found = [name for name, label in lines if (mark := WorkMark.parse(label)) and is_wanted(mark)]
    done = docker("rm", "--force", *found) if found else listed
    gone = ("No such container", "already in progress")  # it ended meanwhile
    left = [line for line in done.stderr.splitlines() if not any(word in line for word in gone)]
    if done.returncode != 0 and left:
        raise TesseraError(
            "the containers of a run that was killed",
            f"docker {'rm' if found else 'ps'}: {' '.join(left)[-300:]}",
            f"docker ps --all --filter label={MARK_LABEL}; docker rm --force ID",
            exit_code=EXIT_FAILED,
            code="containers-left",
        )
    return found


class HostProcess(subprocess.Popen):
    """A program on this machine, as the leader of its own process group."""

    def __init__(self, argv: list[str], **keywords):
        super().__init__([*DIE_WITH_PARENT, *argv], process_group=0, **keywords)

    def send_signal(self, sig: int) -> None:
        """Signal the whole group."""
        if self.poll() is None:
            os.killpg(self.pid, sig)


class ApptainerProcess(HostProcess):
    """The client of a container of Apptainer; the container is its child and ends with it.

    Signals go to :data:`FORWARD`, from there to the client, and from there to the program. Only SIGKILL goes
    to the whole group: others would reach the process that mounts the image before the program could end.
    """

    def __init__(self, argv: list[str], **keywords):
        super().__init__([*FORWARD, *argv], **keywords)

    def send_signal(self, sig: int) -> None:
        """SIGKILL to the group, other signals to its leader."""
        if sig == signal.SIGKILL:
            super().send_signal(sig)
        elif self.poll() is None:
            os.kill(self.pid, sig)


def end_process(process: subprocess.Popen) -> None:
    """End a process: SIGTERM, then SIGKILL after :data:`GRACE_SECONDS`."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()  # even of one that has ended: it removes a container whose client was killed


@contextmanager
def stopped_at_exit(process: subprocess.Popen) -> Iterator[None]:
    """Stop the process at the end of the block, also on an exception, Ctrl-C or SIGTERM."""

    try:
        with signals_raise():
            yield
    finally:
        end_process(process)
