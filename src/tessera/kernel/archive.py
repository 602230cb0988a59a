"""Write the cpio archive ("newc") that the kernel unpacks into its first file system.

Written here rather than by ``cpio`` so that no file has to exist with its final owner and mode, and the
same content gives the same bytes: every file belongs to root and has time 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

DIRECTORY = 0o040755
PROGRAM = 0o100755
SYMLINK = 0o120777


def pack(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """Archive of ``files`` (absolute path -> content, all executable) and of symbolic ``links``.

    Folders above them are made. The kernel accepts several archives one after another, so a run's
    own files are packed alone and appended to the common ones.
    """
    entries: dict[str, tuple[int, bytes]] = {}
    for path, content in files.items():
        entries[path] = (PROGRAM, content)
    for path, target in (links or {}).items():
        entries[path] = (SYMLINK, target.encode())
    for path in list(entries):
        for folder in PurePosixPath(path).parents:
            if str(folder) != "/":
                entries.setdefault(str(folder), (DIRECTORY, b""))
    # A folder must come before what is in it; sorting by path does that.
    packed = b"".join(
        _entry(number, path.lstrip("/"), mode, content)
        for number, (path, (mode, content)) in enumerate(sorted(entries.items()), start=1)
    )
    return packed + _entry(0, "TRAILER!!!", 0, b"")


def _entry(inode: int, name: str, mode: int, content: bytes) -> bytes:
    """One member: 110 bytes of ASCII hexadecimal, the name, the content; both padded to 4 bytes."""
    fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    header = b"070701" + "".join(f"{field:08x}" for field in fields).encode()
    return _padded(header + name.encode() + b"\0") + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
