"""One of each, as docs/howto/add-a-*.md says: a new file and a line, and the report shows it.

The pages' own files and diffs are applied to a copy of the checkout; cells are made up, everything behind
them is computed by the commands. Expected numbers are worked out here from the cells.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from tests.docs import pages
from tests.synthetic import make_tree

from .pages import addition

#: page -> number of new files that it describes, files that get a line
PAGES = {
    "add-a-model.md": (1, ["src/tessera/fit/models/registry.py"]),
    "add-a-figure.md": (1, []),
    "add-a-claim.md": (1, []),
    "add-a-platform.md": (0, ["artifacts/simulator/src/base/platform_keys.def"]),
    "add-a-design.md": (1, ["artifacts/simulator/CMakeLists.txt"]),
    "add-a-policy.md": (1, ["artifacts/imitation/vm/policies.def"]),
}
COMPILED = ("add-a-design.md", "add-a-policy.md")
WORKLOAD, PLATFORM, MODEL = "gups", "example-sim", "flat"


@pytest.fixture(scope="module")
def added(root, checkout):
    """The checkout with one of each."""
    for page in PAGES:
        if page not in COMPILED:  # their files are compiled: test_component, test_policy
            addition(pages.PAGES[page]).apply(checkout)
    (entry,) = re.findall(r"```yaml\n(  - id: .*?)```", pages.text("add-a-claim.md"), re.DOTALL)
    with (checkout / "config/claims.yaml").open("a") as file:
        file.write(entry)
    haswell = (checkout / "config/platforms/haswell-sim.yaml").read_text()
    text = haswell.replace("name: haswell-sim", f"name: {PLATFORM}", 1)
    (checkout / f"config/platforms/{PLATFORM}.yaml").write_text(text)
    return checkout


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Made-up cells of one pair."""
    folder = tmp_path_factory.mktemp("added") / "default"
    make_tree(folder, (WORKLOAD,), (PLATFORM,), host=False, broken=False, models=False)
    (folder / "cells" / WORKLOAD).mkdir(parents=True)
    (folder / "cells" / WORKLOAD / f"{PLATFORM}.csv").write_text((folder / "cells.csv").read_text())
    return folder


@pytest.fixture(scope="module")
def chain(root, added, results):
    """What the chain said; it runs with the code of the changed checkout."""
    environment = os.environ | {"PYTHONPATH": str(added / "src"), "TESSERA_ROOT": str(added)}
    argv = [sys.executable, str(root / "tests/adding/chain.py"), str(results), "config/smoke.yaml"]
    done = subprocess.run(argv, cwd=added, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def cells(results):
    table = pd.read_csv(results / "cells.csv").set_index("layout")
    return table[["runtime_cycles", "stlb_misses", "walk_cycles"]]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_for_a_file_or_a_line(page):
    files, changed = PAGES[page]
    found = addition(pages.PAGES[page])
    assert len(found.files) == files
    assert [name for name, _, _ in found.lines] == changed
    assert all(len(lines.splitlines()) == 1 for _, _, lines in found.lines)


def test_a_model_is_fitted_and_judged(chain, results, cells):
    two = cells.loc["growing-8"]
    predicted = two["runtime_cycles"] + 30 * (cells["stlb_misses"] - two["stlb_misses"])
    errors = (predicted / cells["runtime_cycles"] - 1).abs()
    table = pd.read_csv(results / "models/errors.csv")
    mine = table[table["model"] == MODEL].set_index("protocol")["max_error"]
    assert list(table["model"].unique())[-3:] == ["mosmodel", MODEL, "mosmodel-authors"]
    assert mine["all"] == pytest.approx(errors.drop("1gb").max(), rel=1e-12)
    assert mine["1gb"] == pytest.approx(errors["1gb"], rel=1e-12)
    judged = pd.read_csv(results / "models/protocols.csv")
    assert MODEL in set(judged["model"])


def test_figures_and_pages_show_the_model(chain, results):
    for name, column in {"fig2": "model", "fig5": "model", f"curves-{WORKLOAD}-{PLATFORM}": "series"}.items():
        table = pd.read_csv(results / f"figures/{name}.csv")
        assert MODEL in set(table[column]), name
        assert ">Flat rate<" in (results / f"figures/{name}.svg").read_text(), name
    worst = pd.read_csv(results / "models/errors.csv").query("model == @MODEL and protocol == 'all'")
    shown = pd.read_csv(results / "figures/fig2.csv").query("model == @MODEL and scope == 'all'")
    assert shown["max_error"].item() == pytest.approx(worst["max_error"].item(), rel=1e-9)
    for page in ("models.html", f"workload-{WORKLOAD}.html", "guide.html"):
        assert "Flat rate" in (results / "report" / page).read_text(), page


def test_a_figure_is_drawn_and_on_its_page(chain, results, cells):
    assert chain["figures"]["misses-left"] == ""
    left = pd.read_csv(results / "figures/misses-left.csv")["left"].item()
    misses = cells["stlb_misses"]
    assert left == pytest.approx(misses["growing-8"] / misses["growing-0"], rel=1e-9)
    assert "Misses that 2MB pages leave" in (results / "report/workloads.html").read_text()


def test_a_claim_is_judged_and_on_its_page(chain, results, cells):
    row = pd.read_csv(results / "claims.csv").set_index("id").loc["tessera-walk-length"]
    small = cells.loc["growing-0"]
    assert float(row["obtained"]) == pytest.approx(small["walk_cycles"] / small["stlb_misses"], rel=1e-3)
    assert row["verdict"] == "PASS"
    assert "tessera-walk-length" in (results / "report/claims.html").read_text()


def test_a_platform_and_a_key_are_on_its_page(chain, results):
    page = (results / "report/platforms.html").read_text()
    assert PLATFORM in page
    assert "core.l1d_ports" in page and "two load ports, as since Sandy Bridge (default)" in page
