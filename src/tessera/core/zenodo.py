"""A record of Zenodo: its metadata, and the files that it offers. No file is downloaded here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

ATTEMPTS = 4  #: of one request, and of one file in a row without a new byte
TIMEOUT_S = 30.0
_MD5 = re.compile(r"(?:md5:)?([0-9a-f]{32})")


@dataclass(frozen=True)
class Offered:
    """One file of a record: its name there, its address, and the MD5 that the archive gives."""

    name: str
    url: str
    md5: str


class NoMd5(ValueError):
    """A file whose metadata have no MD5, so that a download could not be checked."""


def offered(record: str, pause_s: float) -> list[Offered]:
    """The files of a record, by name.

    Args:
        record: its number, for example ``3605382``.
        pause_s: seconds before the second attempt; doubles.

    Raises:
        ConnectionError: the archive can't be reached.
        ValueError: it has no such record, or its answer does not have the documented form.
    """
    try:
        return files_of(metadata(record, pause_s), record)
    except RuntimeError as error:
        raise ValueError(f"the archive's answer has another form ({error})") from error


def files_of(described: dict, record: str) -> list[Offered]:
    """The files in a record's metadata (:func:`metadata`), by name.

    Raises:
        NoMd5: a file has no MD5.
        ValueError: the metadata do not have the documented form.
    """
    from zenodo_get.metadata import filter_files_from_metadata

    try:
        found = [_of(entry) for entry in filter_files_from_metadata(described, (), record)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the archive's answer has another form ({error})") from error
    return sorted(found, key=lambda one: one.name)


def metadata(record: str, pause_s: float) -> dict:
    """What the archive says of a record. Arguments and errors: those of :func:`offered`."""
    from loguru import logger
    from zenodo_get.downloader import create_configured_client
    from zenodo_get.metadata import fetch_record_metadata

    logger.disable("zenodo_get")  # its reasons are in our errors
    with create_configured_client(retry_total=ATTEMPTS, backoff_factor=pause_s, verbosity=0) as client:
        try:
            return fetch_record_metadata(record, False, None, TIMEOUT_S, True, lambda: client)
        except json.JSONDecodeError as error:
            raise ValueError(f"the archive's answer is not JSON ({error})") from error


def _of(entry: dict) -> Offered:
    name, checksum = str(entry.get("filename") or entry["key"]), str(entry.get("checksum", ""))
    found = _MD5.fullmatch(checksum)
    if not found:
        raise NoMd5(f"file {name} has no MD5 (checksum '{checksum}')")
    return Offered(name, str(entry["links"]["self"]), found[1])
