"""A local record server in the shape of Zenodo's, and every way in which one can misbehave."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


@dataclass
class Behaviour:
    """What the server does; ``requests`` collects (status sent, path, Range asked for)."""

    files: dict[str, bytes]
    metadata: bytes | None = None  #: sent instead of the record's own
    md5: dict[str, str] = field(default_factory=dict)  #: of a file, instead of the right one
    metadata_status: int = 200
    content_status: int = 200
    busy: int = 0  #: answers 429 this many times first
    cut_after: list[int] = field(
        default_factory=list
    )  #: bytes of content sent by the first answers, then a hang-up
    ranges: bool = True
    tag: str = '"one"'
    requests: list[tuple[int, str, str]] = field(default_factory=list)

    def contents(self) -> list[tuple[int, str]]:
        """(status, Range) of the requests for files' content."""
        return [(status, asked) for status, path, asked in self.requests if path.endswith("/content")]

    def record(self, number: str) -> bytes:
        """The record's description, as the API gives it."""
        files = [
            {
                "key": name,
                "size": len(body),
                "checksum": self.md5.get(name, "md5:" + hashlib.md5(body).hexdigest()),
                "links": {"self": f"https://zenodo.org/api/records/{number}/files/{name}/content"},
            }
            for name, body in self.files.items()
        ]
        return json.dumps({"id": int(number), "metadata": {"title": "An artifact"}, "files": files}).encode()


class _Handler(BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        how, path = self.behaviour, unquote(self.path)
        if how.busy > 0:
            how.busy -= 1
            return self._send(429, b"", {"Retry-After": "0"})
        if found := re.fullmatch(r"/api/records/(\d+)/files/(.+)/content", path):
            return self._content(how.files[found.group(2)])
        number = path.removeprefix("/api/records/")
        body = how.record(number) if how.metadata is None else how.metadata
        self._send(how.metadata_status, body if how.metadata_status == 200 else b"", {})

    def _content(self, body: bytes) -> None:
        how, asked, start, status = (
            self.behaviour,
            self.headers.get("Range", ""),
            0,
            self.behaviour.content_status,
        )
        if status != 200:
            return self._send(status, b"", {})
        found = re.fullmatch(r"bytes=(\d+)-", asked)
        if found and how.ranges and self.headers.get("If-Range", how.tag) == how.tag:
            start, status = int(found.group(1)), 206
            if start >= len(body):
                return self._send(416, b"", {})
        headers = {"ETag": how.tag} if how.tag else {}
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        self._send(status, body[start:], headers, how.cut_after.pop(0) if how.cut_after else None)

    def _send(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        self.behaviour.requests.append((status, unquote(self.path), self.headers.get("Range", "")))
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        self.close_connection = True

    def log_message(self, *args) -> None:
        """Quiet."""


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[int]:
    """Serve on a free local port; yields the port."""
    handler = type("Handler", (_Handler,), {"behaviour": behaviour})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
