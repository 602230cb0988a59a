"""The load of a server: wait until it answers, run the load, end the server in an orderly way."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.process import DIE_WITH_PARENT

READY_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Load:
    """``command`` is given to a shell when ``ready_port`` (if any) answers; then ``stop_signal`` is sent."""

    command: str
    ready_port: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM

    def require_free_port(self) -> None:
        """A port that answers before the server starts belongs to another program."""
        if self.ready_port is not None and answers(self.ready_port):
            raise TesseraError(
                f"--ready-port {self.ready_port}",
                "something answers there before the program was started",
                "end that program, or let this one use another port",
            )


class LoadRun:
    """One run of a load beside a program; a :class:`tessera.record.traces.companion.Companion`.

    Attributes (after the run): ``seconds`` that the load took, and its ``output``.
    """

    def __init__(self, load: Load):
        self.load = load
        self.seconds = 0.0
        self.output = ""

    def __call__(self, program: subprocess.Popen) -> None:
        self._wait_until_ready(program)
        start = time.monotonic()
        argv = [*DIE_WITH_PARENT, "sh", "-c", self.load.command]
        running = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.output, _ = running.communicate()
        self.seconds = time.monotonic() - start
        ended_early = program.poll() is not None
        if running.returncode != 0:
            said = f": {self.output.strip().splitlines()[-1]}" if self.output.strip() else ""
            raise TesseraError(
                f"--load '{self.load.command}'",
                f"it ended with status {running.returncode}{said}"
                + (f" (the program had ended with status {program.returncode})" if ended_early else ""),
                "run both by hand until the load succeeds",
                exit_code=EXIT_FAILED,
            )
        if not ended_early:
            stop(program, self.load.stop_signal)

    def _wait_until_ready(self, program: subprocess.Popen) -> None:
        port = self.load.ready_port
        give_up = time.monotonic() + READY_TIMEOUT_SECONDS
        while port is not None and not answers(port):
            if program.poll() is not None:
                raise TesseraError(
                    f"--ready-port {port}",
                    f"the program ended with status {program.returncode} before it answered there",
                    "run it by hand and read its messages",
                    exit_code=EXIT_FAILED,
                )
            if time.monotonic() > give_up:
                raise TesseraError(
                    f"--ready-port {port}",
                    f"no answer on 127.0.0.1 within {READY_TIMEOUT_SECONDS:.0f} s",
                    "give the port on which the program listens",
                    exit_code=EXIT_FAILED,
                )
            time.sleep(POLL_SECONDS)


def stop(program: subprocess.Popen, number: signal.Signals) -> None:
    """Tell the program to end; ``terminate`` is what also reaches one in a container."""
    if number == signal.SIGTERM:
        program.terminate()
    else:
        program.send_signal(number)


def answers(port: int) -> bool:
    """Whether something accepts connections on this port of this machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def ended_well(status: int, load: Load | None) -> bool:
    """Whether a program's end is a success; one that we ended may also die of our signal."""
    accepted = {0}
    if load is not None:
        accepted |= {-load.stop_signal, 128 + load.stop_signal}
    return status in accepted


def number_in(output: str, pattern: str) -> float:
    """The number that ``pattern``'s first group finds last in an output."""
    found = re.findall(pattern, output)
    text = (found[-1][0] if isinstance(found[-1], tuple) else found[-1]) if found else ""
    try:
        return float(text)
    except ValueError:
        last = output.strip().splitlines()[-1:] or ["nothing"]
        raise TesseraError(
            f"--metric '{pattern}'",
            f"found '{text}' in the output, which ended with: {last[0]}",
            "write a regular expression whose first group is the number, such as 'rps=([0-9.]+)'",
            exit_code=EXIT_FAILED,
        ) from None
