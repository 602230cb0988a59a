"""A program that does one memory call at a time, so that a test can look at the machine in between."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Mapping, Sequence

ANSWER_S = 20.0


class Remote:
    """``programs/remote.c``; ``remote("map 4096")`` returns its answer."""

    def __init__(self, argv: Sequence[object], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
        self.stderr = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def __call__(self, command: str) -> str:
        """The program's answer; empty when it is dead."""
        try:
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return ""
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_S)
        assert ready, f"no answer to {command!r} within {ANSWER_S} s"
        return self._process.stdout.readline().decode().strip()

    def slot(self, command: str) -> int:
        """Of a command that must give memory: where the program keeps it."""
        word, _, number = self(command).partition(" ")
        assert word == "ok", f"{command}: {word} {number}; {self.end()} {self.stderr}"
        return int(number)

    def end(self) -> int:
        """Ends the program in the ordinary way; its status, and what it printed is in ``stderr``."""
        try:
            _, stderr = self._process.communicate(timeout=ANSWER_S)
            self.stderr = stderr.decode()
        except ValueError:  # ended before
            self._process.wait(ANSWER_S)
        return self._process.returncode

    def stop(self) -> None:
        """After a failed test nothing may be left behind."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
