"""A small HTTP server for the download tests: ranges, and every way in which a server can misbehave."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Behaviour:
    """What the server does; ``requests`` collects (status sent, Range asked for)."""

    body: bytes
    status: int = 200  #: sent for every request if it isn't 200
    busy: int = 0  #: answers 503 this many times first
    cut_after: list[int] = field(default_factory=list)  #: bytes sent by the first answers, then a hang-up
    ranges: bool = True  #: honours Range
    tag: str = '"one"'
    requests: list[tuple[int, str]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        how = self.behaviour
        asked = self.headers.get("Range", "")
        start, status = 0, 200
        if how.busy > 0:
            how.busy -= 1
            return self._short(503, asked)
        if how.status != 200:
            return self._short(how.status, asked)
        found = re.fullmatch(r"bytes=(\d+)-", asked)
        if found and how.ranges and self.headers.get("If-Range") == how.tag:
            start, status = int(found.group(1)), 206
            if start >= len(how.body):
                return self._short(416, asked)
        how.requests.append((status, asked))
        rest = how.body[start:]
        self.send_response(status)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", how.tag)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(how.body) - 1}/{len(how.body)}")
        self.end_headers()
        self.wfile.write(rest[: how.cut_after.pop(0)] if how.cut_after else rest)
        self.close_connection = True

    def _short(self, status: int, asked: str) -> None:
        self.behaviour.requests.append((status, asked))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args) -> None:
        """Quiet."""


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """Serve on a free local port; yields the address of a file there."""
    handler = type("Handler", (_Handler,), {"behaviour": behaviour})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/files/graph.bin"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
