"""redis-server: benchmark load, values read back, a snapshot written by a fork, and read by a new server."""

from __future__ import annotations

import time

from tessera.allocator_proof.programs.box import Box, Step, TimedOut, answers, expect, free_port
from tessera.allocator_proof.programs.model import Need, Program, WrongAnswer
from tessera.allocator_proof.programs.rows.resp import Resp
from tessera.core.units import MB

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
    expect("redis-benchmark's tests", benchmark.count("requests per second"), 7)
    box.last = server  # from here on the server is what a failure is about
    client = Resp(port)
    expect("FLUSHALL", client.call("FLUSHALL", "SYNC"), b"OK")
    load(client)
    digest = client.call("DEBUG", "DIGEST")
    snapshot(client)
    stop(box, server, client)

    port = free_port()
    server = start(box, port)
    client = Resp(port)
    expect("keys after the snapshot was loaded", client.call("DBSIZE"), KEYS // 2)
    expect("digest after the snapshot was loaded", client.call("DEBUG", "DIGEST"), digest)
    check(client)
    stop(box, server, client)
    return digest.decode()


def start(box: Box, port: int) -> Step:
    """A server on the loopback that answers."""
    options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--enable-debug-command", "local"]
    server = box.start(["redis-server", *options])
    box.wait_ready(server, lambda: answers(port))
    return server


def load(client: Resp) -> None:
    """Write all keys, overwrite a part, delete every second: holes for the allocator to fill."""
    for first in range(0, KEYS, BATCH):
        numbers = range(first, first + BATCH)
        client.pipeline([("SET", f"key:{n}", value(n)) for n in numbers])
        client.pipeline([("APPEND", f"key:{n}", b"x" * (n % 97)) for n in numbers])
        client.pipeline([("DEL", f"key:{n}") for n in numbers if n % 2])
    expect("DBSIZE", client.call("DBSIZE"), KEYS // 2)


def check(client: Resp) -> None:
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
    expect("BGSAVE", b"rdb_last_bgsave_status:ok" in client.call("INFO", "persistence"), True)


def stop(box: Box, server: Step, client: Resp) -> None:
    """Shut the server down in order, so that its pages are checked."""
    try:
        client.call("SHUTDOWN", "NOSAVE")
    except ConnectionError:
        pass  # it hangs up instead of answering
    client.close()
    box.finish(server)


PROGRAM = Program(
    name="redis",
    what="redis-server under redis-benchmark; values, DBSIZE, digest, before and after BGSAVE and reload",
    drive=drive,
    needs=(Need("redis-server", "redis-server"), Need("redis-benchmark", "redis-tools")),
    heap_bytes=8 * MB,
    anon_bytes=64 * MB,
)
