"""Requests to a server and their expected answers: redis's protocol (RESP) and memcached's (text).

Item i has a key and a value that follow from i, so each reply can be compared with what was stored, and no
copy of the data is kept. Sizes as in Mitosis Table 1: redis keys of 25 bytes and elements of 64, memcached 8
and 24.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

#: An odd factor: values of neighbouring items differ in every digit.
_SCATTER = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95


def value(item: int, size_bytes: int) -> bytes:
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
            b"*3\r\n$3\r\nSET\r\n$25\r\n%b\r\n$64\r\n%b\r\n" % (self.key(item), value(item, 64))
            for item in items
        ]
        return b"".join(sent), b"+OK\r\n" * len(sent)

    def fetch(self, items: Sequence[int]) -> tuple[bytes, bytes]:
        """A GET each."""
        sent = b"".join(b"*2\r\n$3\r\nGET\r\n$25\r\n%b\r\n" % self.key(item) for item in items)
        return sent, b"".join(b"$64\r\n%b\r\n" % value(item, 64) for item in items)


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
        sent = [b"set %b 0 0 24\r\n%b\r\n" % (self.key(item), value(item, 24)) for item in items]
        return b"".join(sent), b"STORED\r\n" * len(sent)

    def fetch(self, items: Sequence[int]) -> tuple[bytes, bytes]:
        """A ``get`` each."""
        sent = b"".join(b"get %b\r\n" % self.key(item) for item in items)
        form = b"VALUE %b 0 24\r\n%b\r\nEND\r\n"
        return sent, b"".join(form % (self.key(item), value(item, 24)) for item in items)
