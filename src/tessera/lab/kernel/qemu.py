"""QEMU: the machine that it emulates, the guest's second serial port, and the monitor (QMP)."""

from __future__ import annotations

import base64
import binascii
import json
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError

# The machine that QEMU emulates: sockets, each with its own memory, as files that other processes can read.
#
# Translation by TCG needs no privileges and no virtualisation of the host, but has no caches, no NUMA
# latency and no meaningful cycles. It can measure page tables and, under ``icount``, instructions.

#: One processor for every measurement: its features decide which string instructions the kernel uses.
#: Without ERMS, because QEMU counts each byte of a `rep stosb` as an instruction: clearing a page would
#: weigh 4096.
PROCESSOR = "Haswell-noTSX,-erms"

#: On a busy host a virtual processor may wait for half a minute, with a lock held: no lock-up of the guest.
#: And the emulator's timer may be late at boot: Linux would call it broken, and panic.
PATIENCE = "no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300"


@dataclass(frozen=True)
class EmulatedMachine:
    """The emulated machine.

    Attributes:
        nodes: sockets, each a NUMA node.
        cpus: processors, spread over the nodes in blocks; 1 is on node 0, and the others have memory only.
        memory_mb: memory in MB (2^20 bytes), the same on each node.
        memoryless: nodes without memory, at the end.
        icount: count instructions; one processor runs at a time and runs repeat exactly.
        low_mb: memory below 4 GB in MB, of all nodes; the rest is above. 0: as QEMU splits it.
    """

    nodes: int = 4
    cpus: int = 4
    memory_mb: int = 2048
    memoryless: int = 0
    icount: bool = False
    low_mb: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= 16:
            raise TesseraError(
                f"a machine of {self.nodes} nodes", "the kernel supports 1 to 16 nodes", "give --nodes 4"
            )
        if self.cpus != 1 and (self.cpus < self.nodes or self.cpus % self.nodes):
            raise TesseraError(
                f"{self.cpus} processors on {self.nodes} nodes",
                "each node needs the same number of processors, at least 1; or the machine has 1 in total",
                f"give --cpus {self.nodes}",
            )
        if self.memory_mb // self.filled < 128:
            raise TesseraError(
                f"{self.memory_mb} MB on {self.nodes} nodes",
                "each node with memory needs at least 128 MB",
                "give a larger --memory-mb",
            )

    @property
    def filled(self) -> int:
        """Nodes that have memory."""
        return self.nodes - self.memoryless

    @property
    def node_bytes(self) -> int:
        """Memory of a node, a multiple of 2 MB."""
        return self.memory_mb // self.filled // 2 * 2 << 20

    @property
    def written(self) -> tuple[str, ...]:
        """Files that QEMU writes in its folder, and that a run keeps."""
        return ("console",)

    def _processors(self) -> str:
        return f"{self.cpus},sockets={self.nodes}" if self.cpus > 1 else "1"

    def memory_file(self, folder: Path, node: int) -> Path:
        """The file that is the memory of a node while the guest runs."""
        return folder / f"node{node}.memory"

    def command(self, folder: Path, kernel: Path, initrd: Path, append: str = "") -> list[str]:
        """QEMU's argument list; sockets, console and memory are files of ``folder``."""
        per_node = self.cpus // self.nodes
        command = ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot"]
        border = f",max-ram-below-4g={self.low_mb}M" if self.low_mb else ""
        command += ["-machine", f"pc{border}", "-cpu", PROCESSOR, "-smp", self._processors()]
        command += ["-accel", f"tcg,thread={'single' if self.icount else 'multi'}"]
        if self.icount:
            command += ["-icount", "shift=0,sleep=off"]
        command += ["-m", f"{self.node_bytes * self.filled}B"]
        for node in range(self.nodes):
            first = node * per_node
            cpus = f",cpus={first}-{first + per_node - 1}" if per_node else ",cpus=0" if node == 0 else ""
            if node < self.filled:
                path = self.memory_file(folder, node)
                backend = f"memory-backend-file,id=mem{node},size={self.node_bytes},mem-path={path},share=on"
                command += ["-object", backend, "-numa", f"node,nodeid={node}{cpus},memdev=mem{node}"]
            else:
                command += ["-numa", f"node,nodeid={node}{cpus}"]
        for one in range(self.nodes):
            for other in range(one + 1, self.nodes):
                command += ["-numa", f"dist,src={one},dst={other},val=21"]
        command += ["-kernel", str(kernel), "-initrd", str(initrd)]
        command += ["-append", f"console=ttyS0 panic=-1 oops=panic nokaslr {PATIENCE} {append}".strip()]
        command += ["-serial", f"file:{folder / 'console'}"]
        command += ["-chardev", f"socket,id=channel,path={folder / 'channel'},server=on,wait=on"]
        command += ["-serial", "chardev:channel"]
        return [*command, "-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"]


# The guest's second serial port: lines with an ``@`` are its words, the rest is a file's content.
#
# ``@ready VERSION``: the guest has booted; ``@file PATH``, lines of base64 and ``@end`` send a file;
# ``@bye`` ends the run; any other ``@WORD ARGUMENTS`` is a query that the host answers with a line.


class ChannelClosed(Exception):
    """The guest's machine is gone."""


@dataclass(frozen=True)
class GuestQuery:
    """What the guest asks: a word and its arguments."""

    word: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class GuestFile:
    """A file that the guest hands over; its path is relative."""

    path: str
    content: bytes


class Channel:
    """Read messages and write answers, each until ``deadline`` (of ``time.monotonic``)."""

    def __init__(self, connection: socket.socket, deadline: float):
        self._connection = connection
        self._deadline = deadline
        self._buffer = b""

    def messages(self) -> Iterator[GuestQuery | GuestFile]:
        """Messages until ``@bye``.

        Raises:
            TimeoutError: the deadline passed.
            ChannelClosed: QEMU ended first.
        """
        path: str | None = None
        lines: list[bytes] = []
        while True:
            line = self._line()
            if not line.startswith(b"@"):
                if path is not None:
                    lines.append(line)
                continue
            word, *arguments = line[1:].decode(errors="replace").split()
            if word == "bye":
                return
            if word == "file":
                path, lines = " ".join(arguments), []
            elif word == "end" and path is not None:
                yield GuestFile(path, _decoded(path, lines))
                path = None
            else:
                yield GuestQuery(word, tuple(arguments))

    def answer(self, line: str) -> None:
        """Answer a query."""
        self._connection.sendall(line.encode() + b"\n")

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(left)
            data = self._connection.recv(1 << 16)
            if not data:
                raise ChannelClosed
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.rstrip(b"\r")


def _decoded(path: str, lines: list[bytes]) -> bytes:
    try:
        return base64.b64decode(b"".join(lines), validate=True)
    except binascii.Error as error:
        raise ChannelClosed(f"file {path} arrived damaged: {error}") from error


def connect_channel(path: Path, deadline: float, alive) -> socket.socket:
    """Connect to QEMU's socket, which appears soon after its start.

    ``alive()`` says whether QEMU still runs; it raises what its end means.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    while True:
        try:
            connection.connect(str(path))
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            if not alive():
                connection.close()
                raise ChannelClosed from None
            if time.monotonic() > deadline:
                connection.close()
                raise TimeoutError from None
            time.sleep(0.02)


# QEMU's monitor (QMP): stop and continue the machine, read the registers of its processors.

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
