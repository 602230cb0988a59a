"""The load of a server: wait until the server accepts connections, run the load, then stop the server."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.process import DIE_WITH_PARENT
from tessera.machine.container.watchdog import watchdog

READY_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Load:
    """A shell runs ``command`` once ``ready_port`` (if any) is open; then we send ``stop_signal``."""

    command: str
    ready_port: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM

    def require_free_port(self) -> None:
        """Raise if the port accepts connections before the server starts: another program owns it."""
        if self.ready_port is not None and port_answers(self.ready_port):
            raise TesseraError(
                f"--ready-port {self.ready_port}",
                "another program already accepts connections on this port",
                "stop that program, or let the measured program use another port",
                code="port-taken",
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
        with watchdog(running, f"--load '{self.load.command}'", lambda: None):
            self.output, _ = running.communicate()
        self.seconds = time.monotonic() - start
        ended_early = program.poll() is not None
        if running.returncode != 0:
            said = f": {self.output.strip().splitlines()[-1]}" if self.output.strip() else ""
            raise TesseraError(
                f"--load '{self.load.command}'",
                f"the load exited with status {running.returncode}{said}"
                + (
                    f" (the program had exited before, with status {program.returncode})"
                    if ended_early
                    else ""
                ),
                "run the program and the load by hand until the load succeeds",
                exit_code=EXIT_FAILED,
            )
        if not ended_early:
            signal_stop(program, self.load.stop_signal)

    def _wait_until_ready(self, program: subprocess.Popen) -> None:
        port = self.load.ready_port
        give_up = time.monotonic() + READY_TIMEOUT_SECONDS
        while port is not None and not port_answers(port):
            if program.poll() is not None:
                raise TesseraError(
                    f"--ready-port {port}",
                    f"the program exited with status {program.returncode} before it accepted a connection",
                    "run the program by hand and read its messages",
                    exit_code=EXIT_FAILED,
                    code="server-exited",
                )
            if time.monotonic() > give_up:
                raise TesseraError(
                    f"--ready-port {port}",
                    f"no connection to 127.0.0.1 was accepted within {READY_TIMEOUT_SECONDS:.0f} s",
                    "give the port on which the program listens",
                    exit_code=EXIT_FAILED,
                )
            time.sleep(POLL_SECONDS)


def signal_stop(program: subprocess.Popen, number: signal.Signals) -> None:
    """Send the program a signal to stop; ``terminate`` also reaches a program in a container."""
    if number == signal.SIGTERM:
        program.terminate()
    else:
        program.send_signal(number)


def port_answers(port: int) -> bool:
    """Whether something accepts connections on this port of this machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def ended_well(status: int, load: Load | None) -> bool:
    """Whether a program's exit status is a success; a program that we stopped may die of our signal."""
    accepted = {0}
    if load is not None:
        accepted |= {-load.stop_signal, 128 + load.stop_signal}
    return status in accepted


def number_in(output: str, pattern: str) -> float:
    """The number in the first group of ``pattern``, at its last match in ``output``."""
    found = re.findall(pattern, output)
    text = (found[-1][0] if isinstance(found[-1], tuple) else found[-1]) if found else ""
    try:
        return float(text)
    except ValueError:
        last = output.strip().splitlines()[-1:] or ["nothing"]
        raise TesseraError(
            f"--metric '{pattern}'",
            f"its first group is '{text}', not a number; the last line of the output is: {last[0]}",
            "give a regular expression whose first group is the number, such as 'rps=([0-9.]+)'",
            exit_code=EXIT_FAILED,
        ) from None
