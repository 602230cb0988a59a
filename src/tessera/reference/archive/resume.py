"""Download one file so that an interrupted download goes on where it stopped.

Takes the place of zenodo-get's own ``download_file``, which begins again; the HTTP client (proxies, retries
of 429, 502, 503 and 504 with the server's Retry-After) stays zenodo-get's. Bytes go to ``<file>.part``. A
range is asked for with the entity tag of the first attempt where the server gave one; the MD5 that
zenodo-get compares afterwards covers the rest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB

SPARE_BYTES = 64 * MB  #: left free on the disk beside the file

#: Called with the file's name, the bytes so far, and those of the whole file (None if the server is silent).
Progress = Callable[[str, int, int | None], None]


class Resuming:
    """A ``download_file`` for zenodo-get; remembers why the last attempt ended (zenodo-get only logs it)."""

    def __init__(self, client, progress: Progress):
        self._client, self._progress = client, progress
        self.last_failure = ""

    def __call__(self, url: str, out: str, verbosity: int = 0, timeout: float = 30.0) -> str:
        """Complete ``out``; returns it. Raises what httpx2 raises, for zenodo-get to try again."""
        try:
            self._attempt(url, Path(out), timeout)
        except Exception as error:
            self.last_failure = str(error) or type(error).__name__
            raise
        return out

    def _attempt(self, url: str, out: Path, timeout: float) -> None:
        part, tag = out.with_name(out.name + ".part"), out.with_name(out.name + ".tag")
        have = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"}  # the bytes as archived, not repacked
        if have:
            headers["Range"] = f"bytes={have}-"
            if tag.exists():
                headers["If-Range"] = tag.read_text()
        with self._client.stream("GET", url, headers=headers, timeout=timeout) as answer:
            if answer.status_code == 416:  # what is here is no part of the file: begin again
                part.unlink(missing_ok=True)
                raise RuntimeError("the server has no bytes beyond those that are here")
            answer.raise_for_status()
            ranged = answer.headers.get("content-range", "").startswith(f"bytes {have}-")
            have = have if answer.status_code == 206 and ranged else 0
            length = answer.headers.get("content-length")
            total = have + int(length) if length else None
            _require_space(url, part.absolute().parent, (total or have) - have)
            strong = answer.headers.get("etag", "")
            tag.write_text(strong) if strong and not strong.startswith("W/") else tag.unlink(missing_ok=True)
            with part.open("r+b" if have else "wb") as file:
                file.seek(have)
                for chunk in answer.iter_raw():  # as they arrive: a chunk size would hold some back
                    file.write(chunk)
                    have += len(chunk)
                    self._progress(out.name, have, total)
                file.flush()
                os.fsync(file.fileno())
        if total is not None and have != total:
            raise RuntimeError(f"{have} of {total} bytes arrived")
        part.replace(out)
        tag.unlink(missing_ok=True)


def _require_space(url: str, folder: Path, wanted_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < wanted_bytes + SPARE_BYTES:
        raise TesseraError(
            f"download of {url} to {folder}",
            f"{wanted_bytes} bytes are missing, the disk has {free} free",
            "make room and fetch again: it goes on where it stopped",
            exit_code=EXIT_FAILED,
        )
