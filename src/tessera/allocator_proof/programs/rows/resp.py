"""A client of redis: as much of its protocol (RESP2) as the checks need."""

from __future__ import annotations

import socket


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
