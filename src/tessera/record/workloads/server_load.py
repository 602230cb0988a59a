"""Load for servers: requests and expected answers, one connection, and the session beside the server."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.traces.companion import RecordingSwitch
from tessera.record.workloads.program_run import Finished

# Requests to a server and their expected answers: redis's protocol (RESP) and memcached's (text).
#
# Item i has a key and a value that follow from i, so each reply can be compared with what was stored, and no
# copy of the data is kept. Sizes as in Mitosis Table 1: redis keys of 25 bytes and elements of 64, memcached
# 8 and 24.

#: An odd factor: values of neighbouring items differ in every digit.
_SCATTER = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95


def stored_value(item: int, size_bytes: int) -> bytes:
    """Value of an item: hexadecimal digits."""
    return b"%0*x" % (size_bytes, (item + 1) * _SCATTER % 16**size_bytes)


class Store(Protocol):
    """A key-value server's protocol.

    Contract: each method returns the bytes that are sent, and the exact bytes of the answer.
    """

    name: str

    def ping(self) -> tuple[bytes, bytes]:
        """A request that any such server answers; the answer's beginning."""

    def store(self, items: Iterable[int]) -> tuple[bytes, bytes]:
        """Requests that store these items."""

    def fetch(self, items: Sequence[int]) -> tuple[bytes, bytes]:
        """Requests that read these items, one each."""


class Redis:
    """SET and GET in RESP; keys of 25 bytes, values of 64."""

    name = "redis"
    key_bytes, value_bytes = 25, 64

    def key(self, item: int) -> bytes:
        """Key of an item."""
        return b"key:%021d" % item

    def ping(self) -> tuple[bytes, bytes]:
        """PING."""
        return b"PING\r\n", b"+PONG"

    def store(self, items: Iterable[int]) -> tuple[bytes, bytes]:
        """A SET each."""
        sent = [
            b"*3\r\n$3\r\nSET\r\n$25\r\n%b\r\n$64\r\n%b\r\n" % (self.key(item), stored_value(item, 64))
            for item in items
        ]
        return b"".join(sent), b"+OK\r\n" * len(sent)

    def fetch(self, items: Sequence[int]) -> tuple[bytes, bytes]:
        """A GET each."""
        sent = b"".join(b"*2\r\n$3\r\nGET\r\n$25\r\n%b\r\n" % self.key(item) for item in items)
        return sent, b"".join(b"$64\r\n%b\r\n" % stored_value(item, 64) for item in items)


class Memcached:
    """``set`` and ``get`` in the text protocol; keys of 8 bytes, values of 24."""

    name = "memcached"
    key_bytes, value_bytes = 8, 24

    def key(self, item: int) -> bytes:
        """Key of an item."""
        return b"%08x" % item

    def ping(self) -> tuple[bytes, bytes]:
        """``version``."""
        return b"version\r\n", b"VERSION"

    def store(self, items: Iterable[int]) -> tuple[bytes, bytes]:
        """A ``set`` each."""
        sent = [b"set %b 0 0 24\r\n%b\r\n" % (self.key(item), stored_value(item, 24)) for item in items]
        return b"".join(sent), b"STORED\r\n" * len(sent)

    def fetch(self, items: Sequence[int]) -> tuple[bytes, bytes]:
        """A ``get`` each."""
        sent = b"".join(b"get %b\r\n" % self.key(item) for item in items)
        form = b"VALUE %b 0 24\r\n%b\r\nEND\r\n"
        return sent, b"".join(form % (self.key(item), stored_value(item, 24)) for item in items)


# One connection to a server on this machine: requests in, compared answers out.

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


class BatchClient:
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


# The client of a recorded server: stores items, reads them while the recording is on, stops the server.

STORE_BATCH = 500  #: items in flight while storing: requests and answers fit the sockets' buffers
FETCH_BATCH = 32  #: requests in flight while reading
END_SECONDS = 30
ZIPF_EXPONENT = 0.99  #: YCSB's


@dataclass
class ServerLoad:
    """Load of one run; an instance is the run's companion and, afterwards, its verifier.

    Attributes:
        store: the server's protocol.
        items: stored items.
        requests: reads in the measured phase (fewer when the recording's limit is reached before).
        distribution: ``uniform`` or ``zipf`` (exponent 0.99, ranks scattered over the items).
        farewell: request that ends the server; empty for SIGTERM.
    """

    store: Store
    port: int
    items: int
    requests: int
    distribution: str
    switch: RecordingSwitch
    seed: int = 1
    farewell: bytes = b""
    done: dict = field(default_factory=dict)

    def __call__(self, program: subprocess.Popen) -> None:
        """The whole session; see :class:`tessera.record.traces.companion.Companion`."""
        self.done = {}
        client = BatchClient(self.store, self.port, program)
        try:
            began = time.monotonic()
            for first in range(0, self.items, STORE_BATCH):
                batch = range(first, min(first + STORE_BATCH, self.items))
                client.exchange(self.store.store(batch), "store items")
            stored = time.monotonic()
            wake = self._wake(client)
            self.switch.on(wake)
            fetched = self._fetch(client)
            ended = time.monotonic()
            if not self.switch.limit_reached:
                self.switch.off(wake)
            self._end(client, program)
        finally:
            client.close()
        self.done = {
            "workload": self.store.name,
            "items": self.items,
            "requests": fetched,
            "distribution": self.distribution,
            "seed": self.seed,
            "store_seconds": round(stored - began, 3),
            "fetch_seconds": round(ended - stored, 3),
            "verified": True,
        }

    def result(self, finished: Finished) -> dict:
        """The result of the session, in which every answer of the measured phase was compared."""
        if not self.done:
            raise TesseraError(
                f"load of {self.store.name}",
                "the load did not finish",
                "run the workload alone: tessera workload run",
                exit_code=EXIT_FAILED,
                code="load-unfinished",
            )
        return self.done

    def _fetch(self, client: BatchClient) -> int:
        fetched = 0
        for batch in self._batches():
            client.exchange(self.store.fetch(batch), "read items")
            fetched += len(batch)
            if self.switch.limit_reached:
                break
        return fetched

    def _batches(self) -> Iterator[list[int]]:
        random = np.random.default_rng(self.seed)
        for left in range(self.requests, 0, -FETCH_BATCH):
            yield self._chosen(random, min(left, FETCH_BATCH)).tolist()

    def _chosen(self, random: np.random.Generator, count: int) -> np.ndarray:
        if self.distribution == "uniform":
            return random.integers(self.items, size=count)
        # Inverse of the continuous approximation of the sum of 1/rank^a, a < 1.
        power = 1 - ZIPF_EXPONENT
        share = random.random(count)
        rank = (1 + share * (float(self.items) ** power - 1)) ** (1 / power)
        return (rank.astype(np.int64) * 0x9E3779B1) % self.items

    def _wake(self, client: BatchClient):
        """Wake the main thread: redis answers requests in it, memcached accepts connections in it."""

        def wake() -> None:
            request, answer = self.store.fetch([0])
            client.exchange((request, answer), "read an item")
            client.touch()

        return wake

    def _end(self, client: BatchClient, program: subprocess.Popen) -> None:
        if self.farewell:
            client.send(self.farewell)
        else:
            program.terminate()
        try:
            program.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise TesseraError(
                f"stop {self.store.name}",
                f"the server still runs after {END_SECONDS} s, so Tessera kills it",
                "run the workload alone: tessera workload run",
                exit_code=EXIT_FAILED,
            ) from None
