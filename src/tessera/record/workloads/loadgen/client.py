"""One connection to a server on this machine: requests in, compared answers out."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.workloads.loadgen.wire_formats import Store

HOST = "127.0.0.1"

#: Seconds without an answer after which a server counts as hung; under QEMU a batch takes milliseconds.
ANSWER_SECONDS = 60
START_SECONDS = 60


def free_port() -> int:
    """A free TCP port."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def require_free(port: int) -> int:
    """``port``; an error if something listens on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise TesseraError(
                f"port {port} for a server",
                f"{error.strerror}",
                "give another --port, or omit it: Tessera then uses a free port",
            ) from None
    return port


class Client:
    """Exchanges batches with the server and compares every answer with the expected one."""

    def __init__(self, store: Store, port: int, program: subprocess.Popen):
        self.store, self.port, self._program = store, port, program
        self._socket = self._connected()

    def exchange(self, batch: tuple[bytes, bytes], what: str) -> None:
        """Send the requests and read exactly their answers.

        Raises:
            TesseraError: another answer, none in time, or the server has ended.
        """
        sent, wanted = batch
        try:
            self._socket.sendall(sent)
            answer = bytearray()
            while len(answer) < len(wanted):
                part = self._socket.recv(1 << 20)
                if not part:
                    raise self._failed(what, "the server closed the connection", "server-closed")
                answer += part
        except TimeoutError:
            found = f"the server did not answer within {ANSWER_SECONDS} s"
            raise self._failed(what, found, "server-silent") from None
        except OSError as error:
            raise self._failed(what, str(error.strerror)) from None
        if answer != wanted:
            at = next(i for i, pair in enumerate(zip(answer, wanted, strict=False)) if pair[0] != pair[1])
            shown = bytes(answer[max(0, at - 20) : at + 60])
            raise self._failed(what, f"the server sent a wrong answer: ...{shown!r}", "server-wrong")

    def touch(self) -> None:
        """Connect and disconnect, to wake the server's thread that accepts connections."""
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, self.port), timeout=1).close()

    def send(self, request: bytes) -> None:
        """Send a request and do not wait for its answer."""
        with contextlib.suppress(OSError):
            self._socket.sendall(request)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _connected(self) -> socket.socket:
        end = time.monotonic() + START_SECONDS
        request, answer = self.store.ping()
        while time.monotonic() < end:
            if self._program.poll() is not None:
                found = f"the server exited with status {self._program.returncode} before it answered"
                raise self._failed("start", found, "server-exited")
            try:
                found = socket.create_connection((HOST, self.port), timeout=ANSWER_SECONDS)
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                found.sendall(request)
                said = found.recv(1 << 16)
            except OSError:
                time.sleep(0.05)
                continue
            if said.startswith(answer):
                return found
            if said:
                found = f"another program listens on this port and answered {said[:60]!r}"
                raise self._failed("start", found, "port-taken")
            time.sleep(0.05)
        raise self._failed("start", f"the server did not answer within {START_SECONDS} s", "server-silent")

    def _failed(self, what: str, found: str, code: str = "") -> TesseraError:
        if self._program.poll() is not None and "status" not in found:
            found += f"; the server has exited with status {self._program.returncode}"
        return TesseraError(
            f"{self.store.name} on port {self.port}: {what}",
            found,
            "read the server's messages above; use a smaller size if memory is short, or another --port",
            exit_code=EXIT_FAILED,
            code=code,
        )
