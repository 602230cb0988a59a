"""``tessera`` in the process of the tests: a start of Python with pandas takes longer than most commands."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import pytest

from tessera.cli.main import main


def tessera(*words: object) -> subprocess.CompletedProcess[str]:
    """What ``python -m tessera WORDS`` would give: exit status, and what it prints on both streams."""
    argv, out, err = ["tessera", *map(str, words)], io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", argv), warnings.catch_warnings(), pytest.raises(SystemExit) as end:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    return subprocess.CompletedProcess(argv, int(end.value.code or 0), out.getvalue(), err.getvalue())
