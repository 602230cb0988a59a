"""One attempt to get the rest of a file over HTTP, appended to what is there.

Resume: ``Range`` asks for the bytes that are missing, ``If-Range`` for the whole file if it has changed on
the server since. A server that ignores ranges answers 200 and the file is begun again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import requests
import urllib3

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB

CHUNK_BYTES = MB
SPARE_BYTES = 64 * MB  #: left free on the disk beside the file
TIMEOUT_S = (15, 60)  #: to connect, between bytes

#: Called with the bytes so far and the bytes of the whole file, None if the server doesn't say.
Progress = Callable[[int, int | None], None]


class Interrupted(Exception):
    """The attempt ended early in a way that another attempt may mend; says how."""


def transfer(url: str, part: Path, session: requests.Session, progress: Progress) -> None:
    """Complete ``part``; its tag (to resume safely) is kept in ``<part>.tag``.

    Raises:
        Interrupted: connection lost, timeout, truncated, server busy (5xx, 429).
        TesseraError: the server refuses (404 and the like), or the disk is too small.
    """
    have = part.stat().st_size if part.exists() else 0
    tag = _tag(part)
    headers = {"Accept-Encoding": "identity"}  # the bytes as published, not repacked
    if have and tag:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    else:
        have = 0
    try:
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as answer:
            _receive(url, answer, part, have, progress)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise Interrupted(str(error)) from error


def _receive(url: str, answer: requests.Response, part: Path, have: int, progress: Progress) -> None:
    status = answer.status_code
    if status == 416:  # what is there is not a part of the file: begin again
        part.unlink(missing_ok=True)
        raise Interrupted("the server has no bytes beyond those here")
    if status >= 500 or status in (408, 425, 429):
        raise Interrupted(f"the server answered {status} {answer.reason}")
    if status not in (200, 206):
        raise TesseraError(
            f"download of {url}",
            f"the server answered {status} {answer.reason}",
            "look for its new place and correct datasets/manifest.csv; size `default` needs no download",
            exit_code=EXIT_FAILED,
        )
    have = _start(answer, have) if status == 206 else 0
    length = answer.headers.get("Content-Length")
    total = have + int(length) if length is not None else None
    _require_space(url, part, 0 if total is None else total - have)
    _keep_tag(part, answer)
    done = have
    try:
        with part.open("r+b" if have else "wb") as file:
            file.seek(have)
            for chunk in answer.raw.stream(CHUNK_BYTES, decode_content=False):
                file.write(chunk)
                done += len(chunk)
                progress(done, total)
    except OSError as error:
        if isinstance(error, requests.RequestException | urllib3.exceptions.HTTPError | TimeoutError):
            raise
        if isinstance(error, ConnectionError):
            raise Interrupted(str(error)) from error
        raise _disk(url, part, error.strerror or str(error)) from error
    if total is not None and done != total:
        raise Interrupted(f"{done} of {total} bytes arrived")


def _start(answer: requests.Response, have: int) -> int:
    given = answer.headers.get("Content-Range", "")
    if not given.startswith(f"bytes {have}-"):
        raise Interrupted(f"asked for bytes from {have}, got '{given}'")
    return have


def _require_space(url: str, part: Path, wanted: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < wanted + SPARE_BYTES:
        raise _disk(url, part, f"{wanted} bytes are missing, the disk has {free} free")


def _disk(url: str, part: Path, found: str) -> TesseraError:
    return TesseraError(
        f"download of {url} to {part.parent}",
        found,
        "make room and fetch again: it goes on where it stopped",
        exit_code=EXIT_FAILED,
    )


def _tag_path(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _tag(part: Path) -> str:
    try:
        return str(json.loads(_tag_path(part).read_text())["tag"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _keep_tag(part: Path, answer: requests.Response) -> None:
    """A strong entity tag, else the date; without either the next attempt begins again."""
    tag = answer.headers.get("ETag", "")
    tag = tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")
    _tag_path(part).write_text(json.dumps({"tag": tag}))


def forget_tag(part: Path) -> None:
    """Remove what was kept to resume ``part``."""
    _tag_path(part).unlink(missing_ok=True)
