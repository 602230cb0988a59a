"""The commands of docs/models.md and the example of docs/add-a-model.md run as printed."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.models import MODELS
from tessera.models.registry import registry

from .builders import make_frame, noisy

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_frame(noisy()).to_csv("cells.csv", index=False)
    lines = "".join(blocks("models.md", "sh")).replace("\\\n", " ").splitlines()
    assert len(lines) == 5
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["./run", "tessera"]
        done = CliRunner().invoke(cli, words[2:])
        assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception}"
    assert Path("fit/errors.csv").exists()


def test_the_table_of_models_is_complete():
    table = re.search(r"## The models\n(.*?)\n\n[A-Z]", (DOCS / "models.md").read_text(), re.DOTALL)
    named = re.findall(r"^\| ([a-z0-9, ]+) \|", table[1], re.MULTILINE)[1:]
    assert ", ".join(named).split(", ") == list(MODELS)


def test_the_example_of_a_new_model():
    (source,) = blocks("add-a-model.md", "python")
    namespace: dict = {"__name__": "flat"}
    exec(source, namespace)
    flat = registry(*MODELS.values(), namespace["Flat"])["flat"]()
    s = noisy()
    H, M, C, R = s.anchor("growing-8")
    assert flat.fit(s).predict(H, M, C) == pytest.approx(R, rel=1e-15)
    assert flat.coefficients_["M"] == 30
    assert flat.get_params() == {"cycles_per_miss": 30.0}


@pytest.mark.parametrize("page", ["models.md", "add-a-model.md"])
def test_files_that_pages_name_exist(page):
    text = (DOCS / page).read_text()
    for name in re.findall(r"`(src/tessera/models/\w+\.py)`", text):
        assert name.endswith("flat.py") or (DOCS.parent / name).exists(), name
