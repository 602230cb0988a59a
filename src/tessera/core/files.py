"""Files: where they are in a checkout, how they are written, and whether one has changed since.

The only module that knows the folder names of a checkout, and the one that writes every file of this
package: completely or not at all, also with several writers at the same time.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.processes import has_died, process_name

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
# The bytes go to a new, uniquely named file in the target's folder. When complete, :func:`publish` gives it
# the target's name. So readers see the old file or the new one. Of two writers, the last one wins with all of
# its bytes. After an error or a signal that raises, the old file is unchanged and no temporary file is left.
#
# - A published file is on the disk under its name: the file is synced before it is renamed, and its folder
#   afterwards. ``sync=False`` skips both, for files that can be made again.
# - Only SIGKILL and power failures leave a temporary file or folder. It is hidden, ends in :data:`SUFFIX`,
#   and names the process that made it. The next process that writes in the folder removes it.
# - Links are followed: the file that a link names is replaced, the link stays.
# - Targets that are not regular files (folders, pipes, devices, ``/dev/stdout``) are rejected.
# - Missing folders are created. Mode bits are those of a new file under the caller's umask.

SUFFIX = ".tmp"
_TEMPORARY = re.compile(rf"\..*\.([0-9a-f]+(?:-[0-9a-f]+)+)\.[0-9a-f]{{16}}{re.escape(SUFFIX)}", re.DOTALL)
_DESCRIPTORS = re.compile(r"/proc/\d+(/task/\d+)?/fd")
_REGULAR = "name a regular file, or one that does not exist yet"
_FOLDER = "name a file in a folder where you may read and write"
_ROOM = "free space on that disk, then run the same command again"
_DISK = "check that disk and its file system (dmesg has their errors), then run the same command again"
_LIMIT = "raise the limit of {} (ulimit {}), then run the same command again"
_REMEDIES: dict[int | None, str] = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EIO: _DISK,
    errno.EFBIG: _LIMIT.format("file sizes", "-f"),
    errno.EMFILE: _LIMIT.format("open files", "-n"),
}
#: The request is wrong: there can be no such file, or the caller must not write it.
_WRONG_NAME = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP),
    *(errno.ENAMETOOLONG, errno.EINVAL, errno.EEXIST, errno.ENOTEMPTY, errno.EXDEV),
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
        os.close(_opened_folder(folder))
        _new_file(folder / target.name).unlink()
    except OSError as error:
        raise _failed(path, error) from error
    return target


@contextmanager
def making(path: Path | str, *, sync: bool = True) -> Iterator[Path]:
    """Yield the name of a new empty file; it becomes ``path`` if the block ends without an exception.

    For programs that need the name of a file; other writers use :func:`writing`.

    Raises:
        TesseraError: ``path`` can't be written (exit status 2), or the disk is full or damaged (exit
            status 1).
    """
    try:
        target = _target(Path(path))
        _make_folders(target.parent, sync)
        remove_leftovers(target.parent)
        temporary = _new_file(target)
    except OSError as error:
        raise _failed(path, error) from error
    try:
        try:
            yield temporary
        except OSError as error:
            # An error that names another file comes from the block, which read that file.
            if error.filename in (None, str(temporary)):
                raise _failed(path, error) from error
            raise
        publish(temporary, target, sync=sync)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield a new empty folder beside ``target``, for files that become it; removed afterwards.

    Raises:
        TesseraError: as :func:`making`.
    """
    folder = _temporary_name(target)
    try:
        _make_folders(target.parent, sync=False)
        remove_leftovers(target.parent)
        folder.mkdir()
    except OSError as error:
        raise _failed(target, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def making_folder(path: Path) -> Iterator[Path]:
    """Yield a new empty folder; it becomes ``path`` if the block ends without an exception.

    A folder of this name is replaced as a whole. No system call exchanges two folders on all file systems: a
    process that is killed between two renames leaves no ``path``, and the caller must make it again.

    Raises:
        TesseraError: as :func:`making`.
    """
    with scratch_folder(path) as made:
        try:
            yield made
        except OSError as error:
            if error.filename is None or Path(os.fsdecode(error.filename)).is_relative_to(made):
                raise _failed(path, error) from error
            raise
        publish(made, path)


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it; a process that is killed here leaves the whole folder or none.

    Raises:
        TesseraError: it can't be renamed; then it is as before.
    """
    aside = _temporary_name(path)
    try:
        _rename(path, aside)
    except OSError as error:
        raise _failed(path, error) from error
    shutil.rmtree(aside, ignore_errors=True)


def publish(made: Path, target: Path, *, sync: bool = True) -> None:
    """Rename a complete file, or a folder with all that is in it, to ``target``, durably.

    The only function of this package that renames. It returns when bytes and name are on the disk; of a
    recording of 1 GB, that is what the disk has not written yet.

    Args:
        made: beside ``target``, or in a folder beside it.
        sync: False leaves it to the system when the bytes are written.

    Raises:
        TesseraError: it failed. ``target`` is the old one, or, if only its folder could not be synced, the
            new one.
    """
    try:
        folder = _opened_folder(target.parent) if sync else -1  # first: an error must come before the rename
        try:
            if sync:
                _sync_tree(made)
            _rename(made, target)
            if sync:
                _sync_folder(folder)
        finally:
            if sync:
                os.close(folder)
    except OSError as error:
        raise _failed(target, error) from error


def sync_file(path: Path) -> None:
    """Bring a file that another program wrote to the disk, with its name.

    Raises:
        TesseraError: the disk is full or damaged.
    """
    try:
        folder = _opened_folder(path.parent)
        try:
            _sync_tree(path)
            _sync_folder(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _failed(path, error) from error


def _rename(made: Path, target: Path) -> None:
    if not made.is_dir() or not target.is_dir():
        os.rename(made, target)
        return
    aside = _temporary_name(target)
    try:
        os.rename(target, aside)
        os.rename(made, target)
    except BaseException:
        if aside.is_dir():
            os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


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


def copy_file(source: Path, target: Path | str) -> None:
    """The bytes of ``source`` as the whole content of ``target``; raises as :func:`making`."""
    with source.open("rb") as read, writing(target, "wb") as stream:
        shutil.copyfileobj(read, stream)


def append_lines(path: Path | str, text: str) -> None:
    """Add whole lines to a file, which must exist; they are on the disk when this returns.

    After an error the file is as before. A kill can leave a part of ``text``: readers ignore a last line
    without its end, and the next call removes it.

    Raises:
        TesseraError: as :func:`making`.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            end = _end_of_lines(descriptor)
            os.ftruncate(descriptor, end)
            data = text.encode()
            try:
                while data:
                    written = os.pwrite(descriptor, data, os.fstat(descriptor).st_size)
                    data = data[written:]
                os.fsync(descriptor)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, end)
                raise
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _failed(path, error) from error


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Hold the lock of a file of its own, which is made and stays; wait until it is free.

    The kernel drops the lock when its process ends, however it ends.

    Raises:
        TesseraError: the file can't be opened or locked.
    """
    try:  # for writing, which NFS needs for an exclusive lock
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _as_tessera_error(f"lock {path}", error, _FOLDER) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise _as_tessera_error(f"lock {path}", error, _FOLDER) from error
        yield
    finally:
        with suppress(OSError):  # nothing was written
            os.close(descriptor)


def _end_of_lines(descriptor: int) -> int:
    """Bytes of a file up to the end of its last whole line."""
    end, step = os.fstat(descriptor).st_size, 4096
    while end > 0:
        start = max(0, end - step)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


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
    """A system error on a file as a TesseraError: exit status 2, or 1 if the disk is full or damaged.

    Raises:
        OSError: the error itself, if it names no file.
    """
    if error.filename is None and error.errno not in _REMEDIES:
        raise error
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "a file"
    return _as_tessera_error(name, error, "check the path and its permissions")


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


def _temporary_name(target: Path) -> Path:
    name = os.fsdecode(os.fsencode(target.name)[:100])  # names have at most 255 bytes
    return target.with_name(f".{name}.{process_name()}.{secrets.token_hex(8)}{SUFFIX}")


def _new_file(target: Path) -> Path:
    """A new empty file in the folder of ``target``."""
    path = _temporary_name(target)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.close(descriptor)
    except OSError:
        path.unlink()
        raise
    return path


_looked_into: set[Path] = set()


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove temporary files and folders of processes that have died; once for each folder and process.

    Returns:
        Those that were found.
    """
    found: list[Path] = []
    if folder in _looked_into:
        return found
    _looked_into.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:  # what cannot be removed does no harm
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match is None or not has_died(match[1]):
                continue
            found.append(Path(entry.path))
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
    return found


def _make_folders(folder: Path, sync: bool) -> None:
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing if sync else ():
        descriptor = _opened_folder(one.parent)
        try:
            _sync_folder(descriptor)
        finally:
            os.close(descriptor)


def _opened_folder(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _sync_folder(descriptor: int) -> None:
    """Sync names; file systems that answer EINVAL (some of networks) have no such operation."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def _sync_tree(made: Path) -> None:
    """Sync a file, or a folder with everything in it."""
    descriptor = os.open(made, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.fsync(descriptor)
            return
        for entry in os.scandir(made):
            if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
                _sync_tree(Path(entry.path))
        _sync_folder(descriptor)
    finally:
        os.close(descriptor)


def _failed(path: Path | str, error: OSError) -> TesseraError:
    return _as_tessera_error(f"write {path}", error, _FOLDER)


def _as_tessera_error(asked: str, error: OSError, of_name: str) -> TesseraError:
    """``of_name``: the remedy if the name or its permissions are wrong."""
    wrong = error.errno in _WRONG_NAME
    remedy = of_name if wrong else _REMEDIES.get(error.errno, _DISK)
    code = EXIT_USAGE if wrong else EXIT_FAILED
    return TesseraError(asked, error.strerror or str(error), remedy, exit_code=code)


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
