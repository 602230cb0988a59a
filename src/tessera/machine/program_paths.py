"""Paths that a program sees: libraries for LD_PRELOAD, and names that are the same in every checkout."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import built, repo_root
from tessera.machine.container import RunOptions

# A path of a library that LD_PRELOAD can hold: the dynamic linker splits it at spaces and colons.

#: Where the linker splits LD_PRELOAD, and the begin of what it replaces (``$ORIGIN``).
SPLIT = frozenset(" :$")


def splits(path: Path | str) -> bool:
    """LD_PRELOAD cannot hold this path."""
    return not SPLIT.isdisjoint(str(path))


def preloadable(library: Path) -> Path:
    """``library``, or a symbolic link to it that has no such characters.

    The launcher makes the link, in a private folder of this user, and checks that nobody else can replace it
    (``artifacts/counters/include/counters/preload.h``). A container does not see it.

    Raises:
        TesseraError: there is no safe place for the link; ``code`` is ``preload-path``.
    """
    if not splits(library):
        return library
    launcher = built("mosalloc", "mosalloc-run")
    done = subprocess.run([launcher, "--preload-path", library], capture_output=True, text=True)
    if done.returncode != 0:
        found, _, remedy = done.stderr.strip().partition("\n")
        raise TesseraError(
            f"preload {library}",
            found.removeprefix("mosalloc-run: "),
            remedy.strip().removeprefix("what to do: "),
            code="preload-path",
        )
    return Path(done.stdout.removesuffix("\n"))


# Names of files that a recorded program sees: the same in every checkout and results folder.
#
# The lengths of paths in arguments, environment and names of libraries decide where the stack begins and
# what the dynamic linker and the program allocate. So two recordings from two folders differed. In a
# container, each folder gets a second mount under a fixed name, and the program is told that name only. The
# order of the variables counts, too (``getenv`` reads them one after another), and docker's is random.

ROOT = "/.tessera"  #: no image has this folder, and no checkout is in it
CHECKOUT, RECORDING, FOLDER = f"{ROOT}/checkout", f"{ROOT}/recording", f"{ROOT}/folder"

#: The program's variables besides ours; as in the images, which have these folders and this locale.
VARIABLES = {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}


@dataclass(frozen=True)
class FixedNames:
    """Fixed names by real paths; with none, every text stays as it is."""

    names: Mapping[Path, str]

    @classmethod
    def of(cls, checkout: Path, scratch: Path, folder: Path | None, paths: Sequence[Path]) -> FixedNames:
        """Names of a recording's folders; those of ``paths`` follow from their positions."""
        names = {Path(path).absolute(): f"{ROOT}/input-{i}" for i, path in enumerate(paths)}
        names |= {checkout: CHECKOUT, scratch: RECORDING}
        return cls(names | ({folder: FOLDER} if folder else {}))

    def text(self, text: str) -> str:
        """``text`` with fixed names in place of whole real paths; the innermost folder decides."""
        if not self.names:
            return text
        known = {str(path): name for path, name in self.names.items()}
        inner_first = "|".join(re.escape(path) for path in sorted(known, key=len, reverse=True))
        # A longer name that only begins or ends like one of the paths is another file.
        return re.sub(rf"(?<![\w./-])({inner_first})(?![\w.-])", lambda found: known[found[1]], text)

    def preloadable(self, library: Path) -> Path | str:
        """A path of the library that LD_PRELOAD can hold in a container with :meth:`mounted`."""
        return FixedNames({repo_root(): CHECKOUT}).text(str(library)) if splits(library) else library

    def mounted(self, options: RunOptions) -> RunOptions:
        """``options`` with the second mounts; the checkout has one at least if LD_PRELOAD needs it."""
        also = dict(self.names) | ({repo_root(): CHECKOUT} if splits(repo_root()) else {})
        return replace(options, also=tuple(also.items()))

    def words(self, words: Sequence[str]) -> list[str]:
        """:meth:`text` of each word."""
        return [self.text(word) for word in words]

    def command(self, words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """``words`` with fixed names, started with exactly these variables and :data:`VARIABLES`, sorted."""
        chosen = sorted((VARIABLES | dict(variables)).items())
        return [
            "env",
            "-i",
            "-C",
            ROOT,
            *self.words([f"{key}={value}" for key, value in chosen] + list(words)),
        ]

    def back(self) -> dict[str, str]:
        """Real paths by fixed names, longest first, for messages."""
        pairs = sorted(self.names.items(), key=lambda pair: len(pair[1]), reverse=True)
        return {name: str(path) for path, name in pairs}
