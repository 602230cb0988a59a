"""Tools of the kernel's build: results named by hashes, scripts that call the Makefile, cpio archives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from tessera.core.errors import TesseraError
from tessera.core.files import build_dir, locked_file, repo_root
from tessera.machine.container import RunOptions
from tessera.machine.container.engine import NONE, container_engine_name
from tessera.machine.container.toolchain import Toolchain
from tessera.machine.program_paths import CHECKOUT, FixedNames, splits

# Build results with names that are hashes of their inputs; one process at a time builds each of them.


def build_key(tools: Toolchain, files: Iterable[Path], *words: str) -> str:
    """Hash (16 digits) of the files' names and contents, of the words and of the tools."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    for word in (*words, _toolchain_identity(tools)):
        digest.update(f"{word}\0".encode())
    return digest.hexdigest()[:16]


def build_folder() -> Path:
    """The folder of build results."""
    return build_dir("kernel")


@contextmanager
def locked_build(name: str) -> Iterator[None]:
    """One build of a thing at a time; a second one waits."""
    build_folder().mkdir(parents=True, exist_ok=True)
    with locked_file(build_folder() / f".{name}.lock"):
        yield


def _toolchain_identity(tools: Toolchain) -> str:
    """The inputs of an object's hash; the engine's version is not one of them."""
    facts = tools.describe()
    facts.pop("engine_version", None)
    return json.dumps(facts, sort_keys=True)


# Scripts that call the kernel's Makefile, which refuses folders whose path has spaces.
#
# In a container such a checkout has a second name without them, and the script gets only that one.


def checkout_names() -> FixedNames:
    """The second name of a checkout that needs one; it leaves all other texts as they are."""
    return FixedNames({repo_root(): CHECKOUT} if splits(repo_root()) else {})


def run_build_script(tools: Toolchain, argv: Sequence[Path | str], env: Mapping[str, str]) -> None:
    """Run a script of ``artifacts/kernel``; lists of paths need :func:`checkout_names`.

    Raises:
        TesseraError: the script failed; or without a container, the checkout's path has spaces (``code`` is
            ``kernel-path``).
    """
    second = checkout_names()
    if second.names and container_engine_name() == NONE:
        raise TesseraError(
            f"build the kernel in {repo_root()}",
            "the kernel's Makefile refuses folders whose path has spaces",
            "move the checkout to a folder without spaces, or use the engine docker",
            code="kernel-path",
        )
    words = second.words([str(word) for word in argv])
    variables = {key: second.text(value) for key, value in env.items()}
    tools.run(words, env=variables, options=second.mounted(RunOptions(writes=(build_folder(),))))


# Write the cpio archive ("newc") that the kernel unpacks into its first file system.
#
# Written here rather than by ``cpio`` so that no file has to exist with its final owner and mode, and the
# same content gives the same bytes: every file belongs to root and has time 0.

CPIO_DIRECTORY = 0o040755
CPIO_PROGRAM = 0o100755
CPIO_SYMLINK = 0o120777


def pack_cpio(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """Archive of ``files`` (absolute path -> content, all executable) and of symbolic ``links``.

    Folders above them are made. The kernel accepts several archives one after another, so a run's
    own files are packed alone and appended to the common ones.
    """
    entries: dict[str, tuple[int, bytes]] = {}
    for path, content in files.items():
        entries[path] = (CPIO_PROGRAM, content)
    for path, target in (links or {}).items():
        entries[path] = (CPIO_SYMLINK, target.encode())
    for path in list(entries):
        for folder in PurePosixPath(path).parents:
            if str(folder) != "/":
                entries.setdefault(str(folder), (CPIO_DIRECTORY, b""))
    # A folder must come before what is in it; sorting by path does that.
    packed = b"".join(
        _cpio_entry(number, path.lstrip("/"), mode, content)
        for number, (path, (mode, content)) in enumerate(sorted(entries.items()), start=1)
    )
    return packed + _cpio_entry(0, "TRAILER!!!", 0, b"")


def _cpio_entry(inode: int, name: str, mode: int, content: bytes) -> bytes:
    """One member: 110 bytes of ASCII hexadecimal, the name, the content; both padded to 4 bytes."""
    fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    header = b"070701" + "".join(f"{field:08x}" for field in fields).encode()
    return _padded(header + name.encode() + b"\0") + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
