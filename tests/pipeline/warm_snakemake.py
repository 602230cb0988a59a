"""Starts Snakemake in forks of a process that has imported it, which saves half of each start's time.

A line of JSON on standard input asks for a start: ``words``, ``env``, ``folder``, and ``output``, a file for
both streams. The answer is a line with the exit status; -9 after a SIGKILL. Each start has a process group of
its own.

Nothing of Tessera is imported before a fork, so each start reads the modules of its own checkout.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.modules["rfc3987_syntax"] = (
    None  # as tessera.core.configuration_files does: not needed, and slow to import
)
import click  # noqa: E402, F401
import jsonschema  # noqa: E402, F401
import pandas  # noqa: E402, F401
import smart_open  # noqa: E402, F401
import snakemake.cli  # noqa: E402

COMMAND = str(Path(sys.executable).with_name("snakemake"))


def become(request: dict) -> None:
    """Turn this fork into what the shell would have started."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    for descriptor, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, number)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = str(Path(COMMAND).parent)
    sys.path[1:1] = request["env"]["PYTHONPATH"].split(":")
    sys.argv = [COMMAND, *request["words"]]
    sys.orig_argv = [sys.executable, *sys.argv]  # a run that starts over executes these


def serve() -> None:
    """Fork for each request; returns in the fork, and exits at the end of standard input."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.exit(0)


snakemake.cli.parse_args(["--dry-run"])  # its plugins are imported with the first words that it reads
if [name for name in sys.modules if name.partition(".")[0] == "tessera"]:
    sys.exit("Snakemake's plugins import tessera, so a fork would not read its own checkout")
serve()
snakemake.cli.main()
