"""Files: where they are in a checkout, how they are written, and whether one has changed since.

The only module that knows the folder names of a checkout, and the one that writes every file of this
package: completely or not at all, also with several writers at the same time.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError

# Where things are in a checkout.


def repo_root() -> Path:
    """The checkout: ``$TESSERA_ROOT``, else the folder that holds this package's ``src``."""
    override = os.environ.get("TESSERA_ROOT")
    return Path(override).resolve() if override else Path(__file__).resolve().parents[3]


def build_dir(component: str) -> Path:
    """Build folder of one component of ``artifacts/`` (mosalloc, simulator, tracer, workloads)."""
    return repo_root() / "build" / component


def built(component: str, name: str) -> Path:
    """A built file of a component; an error with the build command if it isn't there."""
    path = build_dir(component) / name
    if not path.exists():
        raise TesseraError(
            f"{name} of component '{component}'",
            f"{path} does not exist",
            f"build it: ./run tessera dev build {component}",
        )
    return path


# Writing: completely or not at all, also with several writers at the same time.
#
# The bytes go to a new, uniquely named file in the target's folder. When complete, it is renamed to the
# target. So readers see the old file or the new one. Of two writers, the last one wins with all of its
# bytes. After an error or a signal that raises, the old file is unchanged and no temporary file is left.
# Only SIGKILL can leave a temporary file: it is hidden and ends in :data:`SUFFIX`.
#
# - Links are followed: the file that a link names is replaced, the link stays.
# - Targets that are not regular files (folders, pipes, devices, ``/dev/stdout``) are rejected.
# - Missing folders are created. Mode bits are those of a new file under the caller's umask.
# - The file is synced to the disk before it is renamed, so that a power failure never leaves a name without
#   its bytes. The folder is not synced, so the old file may come back. ``sync=False`` skips the sync.

SUFFIX = ".tmp"
_DESCRIPTORS = re.compile(r"/proc/\d+(/task/\d+)?/fd")
_REGULAR = "name a regular file, or one that does not exist yet"
_FOLDER = "name a file in a folder where you may write"
_ROOM = "free space on that disk, then run the same command again"
_REMEDIES: dict[int | None, str] = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), then run the same command again",
}


def check_target(path: Path | str) -> Path:
    """Reject, before any work, a file that :func:`making` could not write. Changes nothing.

    Returns:
        The file that would be replaced: absolute, links followed.

    Raises:
        TesseraError: ``path`` is not a regular file, or its folder is not writable (exit status 2).
    """
    target = _target(Path(path))
    folder = target.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    try:
        _new_file(folder / target.name).unlink()
    except OSError as error:
        raise _failed(path, error, EXIT_USAGE) from error
    return target


@contextmanager
def making(path: Path | str, *, sync: bool = True) -> Iterator[Path]:
    """Yield the name of a new empty file; it becomes ``path`` if the block ends without an exception.

    For programs that need the name of a file; other writers use :func:`writing`.

    Raises:
        TesseraError: ``path`` can't be written (exit status 2), or the disk is full (exit status 1).
    """
    target = _target(Path(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _new_file(target)
    except OSError as error:
        raise _failed(path, error, EXIT_FAILED if error.errno in _REMEDIES else EXIT_USAGE) from error
    try:
        yield temporary
        if sync:
            _sync(temporary)
        temporary.replace(target)
    except OSError as error:
        # An error that names another file comes from the block, which read that file.
        if error.filename in (None, str(temporary)):
            raise _failed(path, error, EXIT_FAILED) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path | str, mode: str = "w", *, sync: bool = True) -> Iterator[IO]:
    """Yield a stream (``"w"``: text in UTF-8, ``"wb"``: bytes) whose content becomes ``path``.

    Raises:
        TesseraError: as :func:`making`.
    """
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
    with (
        making(path, sync=sync) as temporary,
        temporary.open(mode, encoding=encoding, newline=newline) as stream,
    ):
        yield stream
        stream.flush()


def write_text(path: Path | str, text: str, *, sync: bool = True) -> None:
    """``text`` in UTF-8 as the whole content of ``path``."""
    with writing(path, sync=sync) as stream:
        stream.write(text)


def write_csv(table, path: Path | str, *, index: bool = False, **options) -> None:
    """A pandas ``table`` as CSV; ``options`` are those of its ``to_csv``."""
    with writing(path) as stream:
        table.to_csv(stream, index=index, **options)


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def md5_of(path: Path) -> str:
    """MD5 (hex) of a file's bytes, for archives that publish no other checksum."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()


def with_names(text: str, names: Mapping[Path | str, object]) -> str:
    """A program's message with the user's names in place of temporary paths, which the user can't read.

    Args:
        names: temporary path -> what the message names instead, replaced in this order.
    """
    for path, name in names.items():
        text = text.replace(str(path), str(name))
    return text


def refused_by_system(error: OSError) -> TesseraError:
    """A system error on a file as a TesseraError: exit status 2, or 1 if the disk is full.

    Raises:
        OSError: the error itself, if it names no file.
    """
    if error.filename is None and error.errno not in _REMEDIES:
        raise error
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "a file"
    remedy = _REMEDIES.get(error.errno, "check the path and its permissions")
    exit_code = EXIT_FAILED if error.errno in _REMEDIES else EXIT_USAGE
    return TesseraError(name, error.strerror or str(error), remedy, exit_code=exit_code)


def _target(path: Path) -> Path:
    """The file that ``path`` names, links followed; an error if it exists and is not regular."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        kind = stat.S_IFREG  # does not exist yet, or is a link to a file that does not exist yet
    except (OSError, ValueError) as error:
        raise TesseraError(
            f"write {path}", getattr(error, "strerror", None) or str(error), _FOLDER
        ) from error
    if stat.S_ISDIR(kind):
        raise TesseraError(f"write {path}", "this is a folder", "name a file in it")
    if not stat.S_ISREG(kind) or _is_descriptor(path):
        raise TesseraError(f"write {path}", "this is not a regular file", _REGULAR)
    return Path(os.path.realpath(path))


def _is_descriptor(path: Path) -> bool:
    """Whether a link on the way names an open file, as /dev/stdout does; replacing it has no effect."""
    step = path.absolute()
    while True:
        if _DESCRIPTORS.fullmatch(os.path.realpath(step.parent)):
            return True
        if not step.is_symlink():
            return False
        step = step.parent / os.readlink(step)


def _new_file(target: Path) -> Path:
    """A new empty file in the folder of ``target``."""
    name = os.fsdecode(os.fsencode(target.name)[:100])  # names have at most 255 bytes
    path = target.with_name(f".{name}.{secrets.token_hex(8)}{SUFFIX}")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    return path


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(path: Path | str, error: OSError, exit_code: int) -> TesseraError:
    found = error.strerror or str(error)
    return TesseraError(f"write {path}", found, _REMEDIES.get(error.errno, _FOLDER), exit_code=exit_code)


# Whether a file is still the one that was read, so that gigabytes are hashed once and not at every look.

#: Times of files are coarse: a second write soon after the first one may have the same time.
SETTLED_NS = 1_000_000_000


def file_stamp(path: Path) -> list[int]:
    """What changes when somebody writes or replaces the file: inode, size in bytes, mtime and ctime in ns."""
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def settled_stamp(path: Path, before: list[int]) -> list[int] | None:
    """The stamp to keep after reading, or None: the file must be read again the next time.

    Args:
        path: the file that was read.
        before: its stamp when reading began. A file that has changed since gets none. Neither does one that
            was written less than :data:`SETTLED_NS` ago.
    """
    old = time.time_ns() - max(before[2:]) > SETTLED_NS
    return before if old and file_stamp(path) == before else None
