"""Names of files that a recorded program sees: the same in every checkout and results folder.

The lengths of paths in arguments, environment and names of libraries decide where the stack begins and what
the dynamic linker and the program allocate. So two recordings from two folders differed. In a container,
each folder gets a second mount under a fixed name, and the program is told that name only. The order of the
variables counts, too (``getenv`` reads them one after another), and docker's is random.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.paths import repo_root
from tessera.machine.container import RunOptions
from tessera.machine.preload import splits

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
