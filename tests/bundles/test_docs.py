"""docs/howto/bundles.md: its commands run, in their order, on bundles made for them."""

from __future__ import annotations

from tessera.measure.bundles import file_format, store
from tessera.measure.bundles.writer import sealed_files
from tests.bundles.processor import Plan, made, opened, put
from tests.docs import pages

PLAN = Plan(layouts=("growing-0", "growing-4", "growing-8", "1gb"))


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(store, "repo_root", lambda: tmp_path)
    put(made(PLAN).files, tmp_path / "my-bundle")
    put(made(PLAN).files, tmp_path / "monday")
    tuesday = dict(opened(Plan(layouts=PLAN.layouts, workloads=("chase",)), 2).files)
    tuesday[file_format.MACHINE_FILE] = made(PLAN).files[file_format.MACHINE_FILE]
    put(sealed_files("tuesday", tuesday), tmp_path / "tuesday")
    *lines, of_run = pages.typed("bundles.md")
    for line in lines:
        pages.invoke(line)
    assert [line.split()[4] for line in lines] == ["show", "verify", "merge", "add", "show", "judge"]
    # ./run passes the words on (tests/bootstrap/test_run.py): to its check, and to a step of the workflow
    assert of_run.startswith("./run reproduce --bundle ")
    for words in ("accept --out paths.txt", "machines --out machines/bundles.json"):
        pages.invoke(of_run.replace("reproduce --bundle ", f"tessera dev step {words} bundle="))
