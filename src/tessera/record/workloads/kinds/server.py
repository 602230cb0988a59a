"""``kind: server``: a server of Debian's, unmodified, with its load beside it.

Sizes' ``args``: ``--items N --requests N --distribution uniform|zipf [--port P]``. The items are stored
before the region of interest; in it they are read, every answer compared. A new server is a protocol in
:mod:`tessera.record.workloads.server_load` and one line in :data:`SERVERS`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.units import MB
from tessera.record.traces.companion import RecordingSwitch
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import WORKLOADS, ProgramRun
from tessera.record.workloads.server_load import (
    HOST,
    Memcached,
    Redis,
    ServerLoad,
    Store,
    free_port,
    require_free,
)


@dataclass(frozen=True)
class Server:
    """How to start and stop a server.

    ``arguments`` takes the port, the memory that items may take (bytes) and the folder.
    """

    protocol: Callable[[], Store]
    arguments: Callable[[int, int, Path], list[str]]
    farewell: bytes = b""


def _redis(port: int, memory_bytes: int, folder: Path) -> list[str]:
    # Neither snapshots nor an append-only file: a fork would double the memory.
    options = {
        "port": str(port), "bind": HOST, "dir": str(folder), "appendonly": "no", "daemonize": "no",
        "save": "", "maxmemory": str(memory_bytes), "maxmemory-policy": "noeviction",
    }  # fmt: skip
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def _memcached(port: int, memory_bytes: int, folder: Path) -> list[str]:
    # One worker thread, no UDP; it refuses to run as root unless told which user to be. No threads that tidy
    # up by the clock: one that scans the items is busier than the worker for a moment, and would be recorded.
    user = ["-u", "root"] if os.getuid() == 0 else []
    alone = ["-t", "1", "-o", "no_lru_maintainer,no_lru_crawler,no_slab_reassign"]
    return [*user, "-l", HOST, "-p", str(port), "-U", "0", *alone, "-m", str(memory_bytes // MB)]


SERVERS = {
    "redis-server": Server(Redis, _redis, b"SHUTDOWN NOSAVE\r\n"),
    "memcached": Server(Memcached, _memcached),
}


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The server's command, and its load as the companion.

    Raises:
        TesseraError: an unknown server, wrong arguments, or a port in use.
    """
    if workload.executable not in SERVERS:
        raise unknown_name(f"server of workload {workload.name}", workload.executable, list(SERVERS))
    server = SERVERS[workload.executable]
    asked = _arguments(workload, size)
    port = require_free(asked.port) if asked.port else free_port()
    switch = RecordingSwitch(folder / "switch")
    session = ServerLoad(
        server.protocol(),
        port,
        asked.items,
        asked.requests,
        asked.distribution,
        switch,
        farewell=server.farewell,
    )
    memory = max(64 * MB, size.heap_pool + size.anon_pool - 128 * MB)
    return ProgramRun(
        ("/usr/bin/" + workload.executable, *server.arguments(port, memory, folder)),
        folder=folder,
        image=WORKLOADS,
        roi=switch.roi,
        threads=True,
        companion=session,
        verify=session.result,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise ValueError(message)


def _arguments(workload: Workload, size: Size) -> argparse.Namespace:
    parser = _Parser(add_help=False)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--distribution", choices=("uniform", "zipf"), default="uniform")
    parser.add_argument("--port", type=int, default=0)
    try:
        found = parser.parse_args(size.args)
        if found.items < 1 or found.requests < 1 or not 0 <= found.port < 65536:
            raise ValueError("--items and --requests must be positive, --port below 65536")
    except ValueError as error:
        raise TesseraError(
            f"workload {workload.name}, size {size.label}: args {' '.join(size.args)}",
            str(error),
            f"correct config/workloads/{workload.name}.yaml",
        ) from None
    return found
