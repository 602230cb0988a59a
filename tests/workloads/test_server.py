"""Servers: protocols against a tiny server written here, errors of a session, the real ones recorded."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.engine import DOCKER, container_engine_name
from tessera.machine.container.toolchain import workloads_toolchain
from tessera.record import traces, workloads
from tessera.record.traces.companion import RecordingSwitch
from tessera.record.workloads import server_load
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import server
from tessera.record.workloads.program_run import Finished
from tessera.record.workloads.server_load import (
    Memcached,
    Redis,
    ServerLoad,
    free_port,
    require_free,
    stored_value,
)


def small(executable: str, *args: str) -> tuple[Workload, Size]:
    """A workload of this server with these arguments."""
    size = Size("s", args, 1 << 20, 32 << 20, 128 << 20)
    return Workload("w", executable, "", "", {"s": size}, kind="server"), size


@pytest.fixture
def idle():
    """A process that stands for the server's."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def answering(answer: bytes) -> int:
    """Port of a server that says `answer` to the first request of each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)
                connection.recv(1 << 16)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def test_the_folder_of_redis_is_one_word(tmp_path):
    """Also if its name has spaces and quotes: a checkout may lie in such a folder."""
    folder = tmp_path / "a b'c"
    folder.mkdir()
    command = server.prepare(*small("redis-server", "--items", "1", "--requests", "1"), folder).argv
    assert command[command.index("--dir") + 1] == str(folder)
    assert command[command.index("--save") + 1] == ""


def test_requests_are_those_of_the_protocols():
    sent, answer = Redis().store([7])
    assert sent.startswith(b"*3\r\n$3\r\nSET\r\n$25\r\nkey:000000000000000000007\r\n$64\r\n")
    assert (len(stored_value(7, 64)), answer) == (64, b"+OK\r\n")
    sent, answer = Redis().fetch([7])
    assert sent == b"*2\r\n$3\r\nGET\r\n$25\r\nkey:000000000000000000007\r\n"
    assert answer == b"$64\r\n" + stored_value(7, 64) + b"\r\n"
    sent, answer = Memcached().store([255, 256])
    assert sent.startswith(
        b"set 000000ff 0 0 24\r\n" + stored_value(255, 24) + b"\r\nset 00000100 0 0 24\r\n"
    )
    assert answer == b"STORED\r\nSTORED\r\n"
    assert Memcached().fetch([255]) == (
        b"get 000000ff\r\n",
        b"VALUE 000000ff 0 24\r\n" + stored_value(255, 24) + b"\r\nEND\r\n",
    )
    assert len({stored_value(i, 24) for i in range(10000)}) == 10000


def test_ports_in_use_are_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TesseraError, match="in use"):
            require_free(port)
        with pytest.raises(TesseraError, match="in use"):
            server.prepare(
                *small("redis-server", "--items", "1", "--requests", "1", "--port", str(port)), Path()
            )
    assert 0 < free_port() < 65536


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (("--items", "0", "--requests", "1"), "must be positive"),
        (("--requests", "1"), "--items"),
        (("--items", "1", "--requests", "1", "--distribution", "normal"), "invalid choice"),
        (("--items", "1", "--requests", "1", "--speed", "9"), "unrecognized"),
    ],
)
def test_wrong_arguments_are_named(args: tuple[str, ...], found: str, tmp_path: Path):
    with pytest.raises(TesseraError, match=found):
        server.prepare(*small("redis-server", *args), tmp_path)
    with pytest.raises(TesseraError, match="redis-server"):
        server.prepare(*small("no-such-server", "--items", "1", "--requests", "1"), tmp_path)


def session(port: int, tmp_path: Path) -> ServerLoad:
    """A short session with a redis on this port."""
    return ServerLoad(Redis(), port, 10, 10, "uniform", RecordingSwitch(tmp_path / "switch"))


def test_something_else_on_the_port_is_not_taken_for_the_server(tmp_path: Path, idle):
    with pytest.raises(TesseraError, match="HTTP/1.1 400") as caught:
        session(answering(b"HTTP/1.1 400 Bad Request\r\n"), tmp_path)(idle)
    assert caught.value.code == "port-taken"


def test_a_wrong_answer_is_an_error_and_no_result(tmp_path: Path, idle, monkeypatch):
    monkeypatch.setattr(server_load, "ANSWER_SECONDS", 1)
    broken = session(answering(b"+PONG\r\n"), tmp_path)
    with pytest.raises(TesseraError) as caught:
        broken(idle)
    assert caught.value.code in ("server-closed", "server-silent")
    with pytest.raises(TesseraError) as caught:
        broken.result(Finished(0, "", "", tmp_path))
    assert caught.value.code == "load-unfinished"


def test_a_server_that_dies_is_an_error_with_its_status(tmp_path: Path):
    dead = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    dead.wait()
    with pytest.raises(TesseraError, match=" status 3 ") as caught:
        session(free_port(), tmp_path)(dead)
    assert caught.value.code == "server-exited"


def test_zipf_prefers_some_items_and_stays_inside(tmp_path: Path):
    import numpy as np

    for distribution, share in (("uniform", 0.001), ("zipf", 0.05)):
        some = ServerLoad(Redis(), 1, 10000, 1, distribution, RecordingSwitch(tmp_path / "switch"))
        chosen = some._chosen(np.random.default_rng(1), 100000)
        assert 0 <= chosen.min() and chosen.max() < 10000
        most = np.bincount(chosen).max() / len(chosen)
        assert most > share if distribution == "zipf" else most < share


@pytest.fixture
def image():
    """Skip with the build command where the servers are not installed."""
    try:
        where = workloads_toolchain()
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    if (
        container_engine_name() != DOCKER
        and where.run(["sh", "-c", "command -v memcached redis-server"], check=False).returncode
    ):
        pytest.skip("redis-server and memcached are not installed")
    return where


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["mitosis-redis", "mitosis-memcached"])
def test_the_real_servers_run_and_are_recorded(image, name: str, tmp_path: Path):
    workload = workloads.load_workload(name)
    run = workloads.prepare(workload, "tiny", tmp_path / "run")
    _, alone = execute(run, tmp_path / "run")
    assert (alone["verified"], alone["requests"], alone["items"]) == (True, 2000, 20000)
    run = workloads.prepare(workload, "tiny", tmp_path / "run")
    done = traces.record_program(
        run.argv,
        tmp_path / "t.tst",
        heap_pool=workload.size("tiny").heap_pool,
        anon_pool=workload.size("tiny").anon_pool,
        roi=run.roi,
        threads=run.threads,
        companion=run.companion,
        paths=[tmp_path / "run"],
        folder=run.folder,
        where=image,
    )
    result = run.verify(Finished(done.returncode, done.stdout, done.stderr, tmp_path))
    assert (result["verified"], result["requests"]) == (True, 2000)
    found = traces.trace_info(done.trace)
    # 2000 requests in batches of 32: a read and a write of the socket each, of several lines.
    assert found["kernel_accesses"] > 2 * 2000 / 32
    assert found["accesses"] > 2000 * 100
    # Storing 20000 items takes more accesses than were recorded: it was left out.
    assert found["accesses"] < 20000 * 400
    assert found["pools"][1]["used_bytes"] > 20000 * (
        run.companion.store.key_bytes + run.companion.store.value_bytes
    )
