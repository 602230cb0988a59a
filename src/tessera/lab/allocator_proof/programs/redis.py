"""redis-server: benchmark load, values read back, a snapshot written by a fork, and read by a new server.

The client speaks as much of redis' protocol (RESP2) as the checks need.
"""

from __future__ import annotations

import socket
import time

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import (
    Box,
    Need,
    ProvedProgram,
    StartedProcess,
    TimedOut,
    WrongAnswer,
    expect_equal,
    free_port,
    server_answers,
)


class Resp:
    """One connection; ``call("SET", "k", "v")`` returns the reply as bytes, int, None or a list."""

    def __init__(self, port: int, timeout_seconds: float = 30):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_seconds)
        self._stream = self._socket.makefile("rb")

    def call(self, *words: str | bytes | int):
        """Send one command and read its reply; an error reply raises ValueError."""
        self._socket.sendall(encode(words))
        return self._reply()

    def pipeline(self, commands: list[tuple]) -> list:
        """Send many commands at once and read all replies."""
        self._socket.sendall(b"".join(map(encode, commands)))
        return [self._reply() for _ in commands]

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
        self._socket.close()

    def _reply(self):
        line = self._stream.readline()
        if not line:
            raise ConnectionError("redis hung up")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise ValueError(rest.decode())
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        count = int(rest)
        if count < 0:
            return None
        if kind == b"$":
            return self._stream.read(count + 2)[:-2]
        return [self._reply() for _ in range(count)]


def encode(words: tuple) -> bytes:
    """A command as an array of bulk strings."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    bulk = b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"*%d\r\n%s" % (len(parts), bulk)


# The driver.

KEYS = 20_000
BATCH = 1000
BENCHMARK = "-q -n 20000 -c 20 -P 8 -r 5000 -t set,get,incr,lpush,lpop,hset,sadd".split()
SNAPSHOT_SECONDS = 20


def value(number: int) -> bytes:
    """The value of a key: its size moves through allocator classes, every 500th is large."""
    size = 100_000 if number % 500 == 0 else 8 + number % 700
    return (b"%d:" % number * size)[:size]


def drive(box: Box) -> str:
    port = free_port()
    server = start(box, port)
    benchmark = box.tool(["redis-benchmark", "-p", port, *BENCHMARK]).out
    expect_equal("redis-benchmark's tests", benchmark.count("requests per second"), 7)
    box.last = server  # from here on the server is what a failure is about
    client = Resp(port)
    expect_equal("FLUSHALL", client.call("FLUSHALL", "SYNC"), b"OK")
    write_keys(client)
    digest = client.call("DEBUG", "DIGEST")
    snapshot(client)
    stop(box, server, client)

    port = free_port()
    server = start(box, port)
    client = Resp(port)
    expect_equal("keys after the snapshot was loaded", client.call("DBSIZE"), KEYS // 2)
    expect_equal("digest after the snapshot was loaded", client.call("DEBUG", "DIGEST"), digest)
    check_values(client)
    stop(box, server, client)
    return digest.decode()


def start(box: Box, port: int) -> StartedProcess:
    """A server on the loopback that answers."""
    options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--enable-debug-command", "local"]
    server = box.start(["redis-server", *options])
    box.wait_ready(server, lambda: server_answers(port))
    return server


def write_keys(client: Resp) -> None:
    """Write all keys, overwrite a part, delete every second: holes for the allocator to fill."""
    for first in range(0, KEYS, BATCH):
        numbers = range(first, first + BATCH)
        client.pipeline([("SET", f"key:{n}", value(n)) for n in numbers])
        client.pipeline([("APPEND", f"key:{n}", b"x" * (n % 97)) for n in numbers])
        client.pipeline([("DEL", f"key:{n}") for n in numbers if n % 2])
    expect_equal("DBSIZE", client.call("DBSIZE"), KEYS // 2)


def check_values(client: Resp) -> None:
    """Every value equals the written one."""
    for first in range(0, KEYS, BATCH):
        numbers = range(first, first + BATCH, 2)
        values = client.pipeline([("GET", f"key:{n}") for n in numbers])
        for number, found in zip(numbers, values, strict=True):
            if found != value(number) + b"x" * (number % 97):
                raise WrongAnswer(f"key:{number} has another value than was written")


def snapshot(client: Resp) -> None:
    """BGSAVE, while the parent writes on: pages shared with the forked child are copied meanwhile."""
    client.call("BGSAVE")
    end = time.monotonic() + SNAPSHOT_SECONDS
    while b"rdb_bgsave_in_progress:1" in client.call("INFO", "persistence"):
        client.pipeline([("SET", "scratch", value(n)) for n in range(0, KEYS, 501)] + [("DEL", "scratch")])
        if time.monotonic() > end:
            raise TimedOut(f"BGSAVE still ran after {SNAPSHOT_SECONDS} s")
    expect_equal("BGSAVE", b"rdb_last_bgsave_status:ok" in client.call("INFO", "persistence"), True)


def stop(box: Box, server: StartedProcess, client: Resp) -> None:
    """Shut the server down in order, so that its pages are checked."""
    try:
        client.call("SHUTDOWN", "NOSAVE")
    except ConnectionError:
        pass  # it hangs up instead of answering
    client.close()
    box.finish(server)


PROGRAM = ProvedProgram(
    name="redis",
    what="redis-server under redis-benchmark; values, DBSIZE, digest, before and after BGSAVE and reload",
    drive=drive,
    needs=(Need("redis-server", "redis-server"), Need("redis-benchmark", "redis-tools")),
    heap_bytes=8 * MB,
    anon_bytes=64 * MB,
)
