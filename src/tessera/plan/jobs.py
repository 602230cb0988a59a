"""How many jobs of each rule a configuration has, as Snakemake counts them in a dry run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root
from tessera.core.python import module_command

#: Rules that make nothing: names for the user.
TARGETS = frozenset({"reproduce", "smoke", "total"})
#: All jobs count, also those whose results are there.
COMMAND = module_command(
    "snakemake",
    *("--dry-run", "--forceall", "--cores", "2"),
    *("--quiet", "progress", "rules"),  # only the table of jobs: tessera.pipeline.counts
)


def count(configuration: Path, target: str = "reproduce") -> dict[str, int]:
    """Jobs by rule.

    Raises:
        TesseraError: Snakemake refuses the configuration; its last lines are in the message.
    """
    words = [*COMMAND, "--configfile", str(configuration.resolve()), "--", target]
    done = subprocess.run(words, cwd=repo_root(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise TesseraError(
            f"the jobs of {configuration}",
            f"snakemake --dry-run exited with status {done.returncode}:\n{said}",
            "correct the configuration; docs/pipeline.md describes it",
            exit_code=EXIT_FAILED,
        )
    return of_text(done.stdout + done.stderr)


def of_text(text: str) -> dict[str, int]:
    """Jobs by rule, from what a dry run prints (``Job stats``, a line for each rule)."""
    table = text.rpartition("Job stats:")[2]
    rows = re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE)
    return {name: int(number) for name, number in rows if name not in TARGETS}
