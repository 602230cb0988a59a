"""Downloads that continue where they stopped, and the list of files that a record of Zenodo offers."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB

# Download one file so that an interrupted download continues where it stopped.
#
# requests and urllib3 handle connections, proxies, redirects, certificates, and repeated requests
# (``Retry``: pauses that double, a server's ``Retry-After``). Only the resumption is ours: pooch and
# zenodo-get restart an interrupted file from its first byte, and the graphs of the papers are large.
#
# ``Range`` asks for the missing bytes. ``If-Range`` asks for the whole file if it has changed on the server.
# A server that ignores ranges answers 200, and the download restarts.

CHUNK_BYTES = 64 * 1024
SPARE_BYTES = 64 * MB  #: left free on the disk beside the file
TIMEOUT_S = (15, 60)  #: to connect, between bytes
BUSY = (408, 425, 429, *range(500, 600))  #: statuses after which the same request may succeed

#: Called with the bytes so far and the bytes of the whole file, None if the server does not say.
Progress = Callable[[int, int | None], None]


class _Interrupted(Exception):
    """The connection broke in a way that another attempt may repair; says how."""


@dataclass(frozen=True)
class Download:
    """A file to download into ``part``.

    The caller checks the part, then renames it with :func:`tessera.core.files.publish`.

    Attributes:
        asked: the file in the words of the user, for errors.
        if_refused, if_interrupted: remedies, for errors.
        checked: the caller compares a published checksum, so a part without a tag is continued, too.
        attempts: give up after so many in a row without a new byte.
        first_pause_s: seconds between attempts; doubles.
    """

    url: str
    part: Path
    asked: str
    if_refused: str
    if_interrupted: str
    checked: bool = False
    attempts: int = 5
    first_pause_s: float = 1.0

    def complete(self, progress: Progress = lambda done, total: None) -> None:
        """Leave the whole file in ``part``.

        Raises:
            TesseraError: ``code`` is ``download-refused`` (404 and the like), ``download-interrupted`` (no
                network, or too many interruptions; the part stays), ``disk-full`` or
                ``download-not-written``.
        """
        self.part.parent.mkdir(parents=True, exist_ok=True)
        failed, have = 0, _size(self.part)
        with _session(self.attempts, self.first_pause_s) as session:
            while True:
                try:
                    self._attempt(session, progress)
                    break
                except _Interrupted as problem:
                    failed = failed + 1 if _size(self.part) <= have else 1
                    have = _size(self.part)
                    if failed >= self.attempts:
                        raise self._gave_up(problem) from problem
                    time.sleep(self.first_pause_s * 2 ** (failed - 1))
        self._tag.unlink(missing_ok=True)

    @property
    def _tag(self) -> Path:
        """Names the version of the file that the part began with."""
        return self.part.with_name(self.part.name + ".tag")

    def _attempt(self, session, progress: Progress) -> None:
        import requests

        have = _size(self.part)
        tag = self._tag.read_text().strip() if self._tag.exists() else ""
        headers = {"Accept-Encoding": "identity"}  # the bytes as published, not compressed again
        if have and (tag or self.checked):
            headers |= {"Range": f"bytes={have}-"} | ({"If-Range": tag} if tag else {})
        else:
            have = 0
        try:
            with session.get(self.url, headers=headers, stream=True, timeout=TIMEOUT_S) as answer:
                self._receive(answer, have, progress)
        except requests.RequestException as error:  # urllib3 has repeated the request already
            raise self._gave_up(error) from error

    def _receive(self, answer, have: int, progress: Progress) -> None:
        from urllib3.exceptions import HTTPError

        if answer.status_code == 416:  # the part is longer than the file
            self.part.unlink(missing_ok=True)
            raise _Interrupted("the server has no bytes beyond those here")
        if answer.status_code not in (200, 206):
            found = f"the server answered {answer.status_code} {answer.reason}"
            raise self._error(found, self.if_refused, "download-refused")
        given = answer.headers.get("Content-Range", "")
        have = have if answer.status_code == 206 and given.startswith(f"bytes {have}-") else 0
        if answer.status_code == 206 and not have:
            self.part.unlink(missing_ok=True)
            raise _Interrupted(f"the server sent the range '{given}', which was not asked for")
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length is not None else None
        self._require_space(0 if total is None else total - have)
        try:
            with self.part.open("r+b" if have else "wb") as file:
                # Now that the part is empty: beside bytes of another version, the tag would join the two.
                self._tag.write_text(_tag_of(answer.headers))
                file.seek(have)
                for chunk in answer.raw.stream(CHUNK_BYTES, decode_content=False):
                    file.write(chunk)
                    have += len(chunk)
                    progress(have, total)
        except (HTTPError, ConnectionError, TimeoutError) as error:
            raise _Interrupted(str(error)) from error
        except OSError as error:
            raise self._not_written(error) from error
        if total is not None and have != total:
            raise _Interrupted(f"{have} of {total} bytes arrived")

    def _require_space(self, wanted: int) -> None:
        free = shutil.disk_usage(self.part.parent).free
        if free < wanted + SPARE_BYTES:
            raise self._no_room(f"{wanted} bytes are missing, the disk has {free} free")

    def _no_room(self, found: str) -> TesseraError:
        remedy = f"free space at {self.part.parent} and fetch again: the download continues where it stopped"
        return self._error(found, remedy, "disk-full")

    def _not_written(self, error: OSError) -> TesseraError:
        found = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return self._no_room(found)
        remedy = f"check {self.part.parent} and its disk, and fetch again: the download continues"
        return self._error(found, remedy, "download-not-written")

    def _gave_up(self, problem: Exception) -> TesseraError:
        found = f"{self.attempts} attempts in a row failed, the last one: {problem}; "
        found += f"{_size(self.part)} bytes are here"
        return self._error(found, self.if_interrupted, "download-interrupted")

    def _error(self, found: str, remedy: str, code: str) -> TesseraError:
        return TesseraError(f"download of {self.asked}", found, remedy, exit_code=EXIT_FAILED, code=code)


def _session(attempts: int, pause_s: float):
    import requests
    from urllib3.util import Retry

    session = requests.Session()
    session.verify = os.environ.get("SSL_CERT_FILE") or True  # requests itself reads REQUESTS_CA_BUNDLE only
    retry = Retry(total=attempts - 1, backoff_factor=pause_s, status_forcelist=BUSY)
    for scheme in ("http://", "https://"):
        session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
    return session


def _tag_of(headers) -> str:
    """A strong entity tag, or the date; empty without either."""
    tag = headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


# A record of Zenodo: its metadata, and the files that it offers. No file is downloaded here.

ZENODO_ATTEMPTS = 4  #: of one request, and of one file in a row without a new byte
ZENODO_TIMEOUT_S = 30.0
_MD5 = re.compile(r"(?:md5:)?([0-9a-f]{32})")


@dataclass(frozen=True)
class OfferedFile:
    """One file of a record: its name there, its address, and the MD5 that the archive gives."""

    name: str
    url: str
    md5: str


class NoMd5(ValueError):
    """A file whose metadata have no MD5, so that a download could not be checked."""


def offered_files(record: str, pause_s: float) -> list[OfferedFile]:
    """The files of a record, by name.

    Args:
        record: its number, for example ``3605382``.
        pause_s: seconds before the second attempt; doubles.

    Raises:
        ConnectionError: the archive can't be reached.
        ValueError: it has no such record, or its answer does not have the documented form.
    """
    try:
        return files_of_record(record_metadata(record, pause_s), record)
    except RuntimeError as error:
        raise ValueError(f"the archive's answer has another form ({error})") from error


def files_of_record(described: dict, record: str) -> list[OfferedFile]:
    """The files in a record's metadata (:func:`record_metadata`), by name.

    Raises:
        NoMd5: a file has no MD5.
        ValueError: the metadata do not have the documented form.
    """
    from zenodo_get.metadata import filter_files_from_metadata

    try:
        found = [_offered_file(entry) for entry in filter_files_from_metadata(described, (), record)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the archive's answer has another form ({error})") from error
    return sorted(found, key=lambda one: one.name)


def record_metadata(record: str, pause_s: float) -> dict:
    """What the archive says of a record. Arguments and errors: those of :func:`offered_files`."""
    from loguru import logger
    from zenodo_get.downloader import create_configured_client
    from zenodo_get.metadata import fetch_record_metadata

    logger.disable("zenodo_get")  # its reasons are in our errors
    with create_configured_client(retry_total=ZENODO_ATTEMPTS, backoff_factor=pause_s, verbosity=0) as client:
        try:
            return fetch_record_metadata(record, False, None, ZENODO_TIMEOUT_S, True, lambda: client)
        except json.JSONDecodeError as error:
            raise ValueError(f"the archive's answer is not JSON ({error})") from error


def _offered_file(entry: dict) -> OfferedFile:
    name, checksum = str(entry.get("filename") or entry["key"]), str(entry.get("checksum", ""))
    found = _MD5.fullmatch(checksum)
    if not found:
        raise NoMd5(f"file {name} has no MD5 (checksum '{checksum}')")
    return OfferedFile(name, str(entry["links"]["self"]), found[1])
