"""docs/bundles.md: its commands run, in their order, on bundles made for them."""

from __future__ import annotations

import glob
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.measure.bundles import file_format, store
from tessera.measure.bundles.writer import sealed_files
from tests.bundles.processor import Plan, made, opened, put

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bundles.md").read_text()
PLAN = Plan(layouts=("growing-0", "growing-4", "growing-8", "1gb"))


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(store, "repo_root", lambda: tmp_path)
    put(made(PLAN).files, tmp_path / "my-bundle")
    put(made(PLAN).files, tmp_path / "monday")
    tuesday = dict(opened(Plan(layouts=PLAN.layouts, workloads=("chase",)), 2).files)
    tuesday[file_format.MACHINE_FILE] = made(PLAN).files[file_format.MACHINE_FILE]
    put(sealed_files("tuesday", tuesday), tmp_path / "tuesday")
    block, of_run = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    done = []
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        assert words[:3] == ["./run", "tessera", "bundle"]
        words = [found for word in words[3:] for found in (sorted(glob.glob(word)) or [word])]
        result = CliRunner().invoke(cli, ["bundle", *words])
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception}"
        done.append(words[0])
    assert done == ["show", "verify", "merge", "add", "list", "judge"]
    # ./run passes the words on (tests/bootstrap/test_run.py): to its check, and to a step of the workflow
    run, verb, option, *named = shlex.split(of_run)
    assert (run, verb, option) == ("./run", "reproduce", "--bundle")
    for words in (["--check"], ["--out", "machines/bundles.json"]):
        result = CliRunner().invoke(cli, ["pipeline", "machines", *words, *named])
        assert result.exit_code == 0, f"{words}\n{result.output}\n{result.exception}"
