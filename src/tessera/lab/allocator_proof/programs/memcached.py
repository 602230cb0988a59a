"""memcached: several clients store, read back, overwrite, count and delete over the loopback."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import (
    Box,
    Need,
    ProvedProgram,
    WrongAnswer,
    expect_equal,
    free_port,
    server_answers,
)

CLIENTS = 4
KEYS = 4000
BATCH = 200


def value(key: str, round_number: int) -> bytes:
    """Sizes across the slab classes; contents from the key, so that a mix-up is seen."""
    seed = hashlib.sha256(f"{key}/{round_number}".encode()).digest()
    size = 50_000 if seed[0] == 0 else 10 + seed[1] * 8
    return (seed * (size // len(seed) + 1))[:size]


class Client:
    """One connection of the text protocol."""

    def __init__(self, port: int):
        self._socket = socket.create_connection(("127.0.0.1", port), 30)
        self._stream = self._socket.makefile("rb")

    def ask(self, request: bytes) -> bytes:
        """One request with a one-line reply."""
        self._socket.sendall(request)
        return self._stream.readline()

    def store(self, items: dict[str, bytes]) -> None:
        """Set many keys at once; each must be STORED."""
        requests = [b"set %s 0 0 %d\r\n%s\r\n" % (k.encode(), len(v), v) for k, v in items.items()]
        self._socket.sendall(b"".join(requests))
        for key in items:
            expect_equal(f"set {key}", self._stream.readline(), b"STORED\r\n")

    def fetch(self, keys: list[str]) -> dict[str, bytes]:
        """Those of ``keys`` that the server has."""
        self._socket.sendall(b"get %s\r\n" % " ".join(keys).encode())
        found = {}
        while (line := self._stream.readline()) != b"END\r\n":
            _, key, _, size = line.split()
            found[key.decode()] = self._stream.read(int(size) + 2)[:-2]
        return found


def work_of_client(port: int, number: int, faults: list[str]) -> None:
    """One client's work on its own keys."""
    try:
        client = Client(port)
        keys = [f"client{number}:{i}" for i in range(KEYS)]
        for round_number in range(2):
            for first in range(0, KEYS, BATCH):
                part = keys[first : first + BATCH]
                items = {key: value(key, round_number) for key in part}
                client.store(items)
                if client.fetch(part) != items:
                    raise WrongAnswer(f"client {number}: values differ from those stored")
        expect_equal("delete", client.ask(b"delete %s\r\n" % keys[0].encode()), b"DELETED\r\n")
        expect_equal("get of a deleted key", client.fetch(keys[:1]), {})
        for _ in range(500):
            client.ask(b"incr counter 1\r\n")
    except Exception as error:  # told to the main thread: a thread's own exception would get lost
        faults.append(f"{type(error).__name__}: {error}")


def drive(box: Box) -> str:
    port = free_port()
    user = ["-u", "root"] if os.geteuid() == 0 else []
    server = box.start(["memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "128", "-t", "4", *user])
    box.wait_ready(server, lambda: server_answers(port))
    client = Client(port)
    client.store({"counter": b"0"})
    faults: list[str] = []
    threads = [threading.Thread(target=work_of_client, args=(port, n, faults)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise WrongAnswer(faults[0])
    digest = hashlib.sha256()
    for number in range(CLIENTS):
        found = client.fetch([f"client{number}:{i}" for i in range(1, KEYS)])
        for key in sorted(found):
            digest.update(key.encode() + found[key])
    counter = client.fetch(["counter"])["counter"]
    expect_equal("counter that all clients raised", counter, b"%d" % (CLIENTS * 500))
    server.process.send_signal(signal.SIGTERM)
    box.finish(server)
    return digest.hexdigest()


PROGRAM = ProvedProgram(
    name="memcached",
    what="4 threads, 4 clients: values read back, a shared counter, digest of all values",
    drive=drive,
    needs=(Need("memcached", "memcached"),),
    heap_bytes=4 * MB,
    anon_bytes=256 * MB,
)
