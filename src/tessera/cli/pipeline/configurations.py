"""``python -m tessera.cli.pipeline.configurations FILE...``: refuse what Snakemake must not read.

Snakemake expands aliases before it reads the Snakefile, and a kilobyte of them can grow to all memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tessera.core.configuration_files import CONFIGURATION_TEXT
from tessera.core.errors import TesseraError
from tessera.core.terminal import escaped_streams


def main() -> int:
    """Read each file; returns the exit status."""
    try:
        for name in sys.argv[1:]:
            CONFIGURATION_TEXT.read(Path(name))
    except TesseraError as error:
        print(f"run: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    with escaped_streams():
        sys.exit(main())
