"""QEMU's monitor (QMP): stop and continue the machine, read the registers of its processors."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError

#: Seconds that QEMU may take for an answer; it answers within milliseconds unless the host is starved.
ANSWER_TIMEOUT_SECONDS = 60


class Monitor:
    """A connection to the monitor at ``path``; a context manager."""

    def __init__(self, path: Path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(ANSWER_TIMEOUT_SECONDS)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rw")
        self._stream.readline()  # the greeting
        self.execute("qmp_capabilities")

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_) -> None:
        self._stream.close()
        self._socket.close()

    def execute(self, command: str, **arguments):
        """Send a command and return its answer; events in between are ignored."""
        message = {"execute": command} | ({"arguments": arguments} if arguments else {})
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()
        for line in self._stream:
            answer = json.loads(line)
            if "error" in answer:
                raise TesseraError(
                    f"QEMU's monitor command '{command}'",
                    answer["error"]["desc"],
                    "compare QEMU's version (./run doctor) with 7.2, which works",
                    exit_code=EXIT_FAILED,
                )
            if "return" in answer:
                return answer["return"]
        raise TesseraError(
            f"QEMU's monitor command '{command}'",
            "QEMU has exited",
            "read the guest's console",
            exit_code=EXIT_FAILED,
        )

    def roots(self) -> list[int]:
        """Physical address of the page table that each processor uses now (CR3 without its flags)."""
        text = self.execute("human-monitor-command", **{"command-line": "info registers -a"})
        return [int(value, 16) & 0x000F_FFFF_FFFF_F000 for value in re.findall(r"CR3=([0-9a-f]+)", text)]
