"""Run `tessera models` or `tessera predict`, and read its tables, for the tests of the commands."""

import pandas as pd
from click.testing import CliRunner

from tessera.cli.models import models
from tessera.cli.predict import predict
from tessera.core.errors import TesseraError


def run(*arguments, check=True):
    """Run the command; a TesseraError comes through as in a terminal."""
    command, words = models, [str(a) for a in arguments]
    if words[0] == "predict":
        command, words = predict, words[1:]
    result = CliRunner().invoke(command, words)
    if isinstance(result.exception, TesseraError):
        raise result.exception
    assert not check or result.exit_code == 0, result.output
    return result


def read(path):
    return pd.read_csv(path, keep_default_na=False, dtype={"term": str})


def point(row):
    """``--point`` of a row of samples."""
    return ",".join(str(row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))
