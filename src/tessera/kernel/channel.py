"""The guest's second serial port: lines with an ``@`` are its requests, the rest is a file's content.

``@ready VERSION``: the guest has booted; ``@file PATH``, lines of base64 and ``@end`` send a file;
``@bye`` ends the run; any other ``@WORD ARGUMENTS`` is a request that the host answers with a line.
"""

from __future__ import annotations

import base64
import binascii
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class ChannelClosed(Exception):
    """The guest's machine is gone."""


@dataclass(frozen=True)
class GuestRequest:
    """A request of the guest: a word and its arguments."""

    word: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file that the guest hands over; its path is relative."""

    path: str
    content: bytes


class Channel:
    """Read messages and write answers, each until ``deadline`` (of ``time.monotonic``)."""

    def __init__(self, connection: socket.socket, deadline: float):
        self._connection = connection
        self._deadline = deadline
        self._buffer = b""

    def messages(self) -> Iterator[GuestRequest | File]:
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
                yield File(path, _decoded(path, lines))
                path = None
            else:
                yield GuestRequest(word, tuple(arguments))

    def answer(self, line: str) -> None:
        """Answer a request."""
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


def connect(path: Path, deadline: float, alive) -> socket.socket:
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
