"""A local record server in the shape of Zenodo's, and every way in which one can misbehave."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


@dataclass
class Behaviour:
    """What the server does; ``requests`` collects (status sent, path, Range asked for)."""

    files: dict[str, bytes]
    metadata: bytes | None = None  #: sent instead of the record's own
    md5: dict[str, str] = field(default_factory=dict)  #: of a file, instead of the right one
    metadata_status: int = 200
    content_status: int = 200
    busy: int = 0  #: answers ``busy_status`` this many times first
    busy_status: int = 429
    cut_after: list[int] = field(default_factory=list)  #: bytes sent by the first answers, then a hang-up
    ranges: bool = True
    tag: str = '"one"'
    requests: list[tuple[int, str, str]] = field(default_factory=list)

    def contents(self) -> list[tuple[int, str]]:
        """(status, Range) of the requests for files' content."""
        return [(status, asked) for status, path, asked in self.requests if "/files/" in path]

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

    def answer(self, request: Request) -> Response:
        asked = request.headers.get("Range", "")
        if self.busy > 0:
            self.busy -= 1
            response = Response(status=self.busy_status, headers={"Retry-After": "0"})
        elif found := re.fullmatch(r"/api/records/\d+/files/(.+)/content|/files/(.+)", request.path):
            version = request.headers.get("If-Range", self.tag)
            response = self._content(self.files[found[1] or found[2]], asked, version)
        else:
            number = request.path.removeprefix("/api/records/")
            body = self.record(number) if self.metadata is None else self.metadata
            response = Response(body if self.metadata_status == 200 else b"", self.metadata_status)
        self.requests.append((response.status_code, request.path, asked))
        return response

    def _content(self, body: bytes, asked: str, version: str) -> Response:
        if self.content_status != 200:
            return Response(status=self.content_status)
        start, headers = 0, {"ETag": self.tag} if self.tag else {}
        if self.ranges and version == self.tag and (found := re.fullmatch(r"bytes=(\d+)-", asked)):
            start = int(found[1])
            if start >= len(body):
                return Response(status=416)
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        sent = body[start:][: self.cut_after.pop(0) if self.cut_after else None]
        response = Response(sent, 206 if "Content-Range" in headers else 200, headers)
        response.content_length = len(body) - start
        return response


class _Server(HTTPServer):
    def thread_target(self) -> None:
        self.server.serve_forever(poll_interval=0.01)  # a test does not wait half a second for its end


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[int]:
    """Serve on a free local port; yields the port."""
    with _Server(threaded=True) as server:
        server.expect_request(re.compile("")).respond_with_handler(behaviour.answer)
        yield server.port
