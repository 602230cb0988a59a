"""Every committed configuration is valid and names things that exist."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml

from tessera.cli.pipeline.simulation import expected_names
from tessera.core import platforms
from tessera.fit.models.registry import select_models
from tessera.record import workloads
from tessera.simulate.sampling import parse_sampling

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ("claims.yaml", "coverage.yaml", "proof-reading.yaml")
CONFIGS = [path for path in sorted((ROOT / "config").glob("*.yaml")) if path.name not in OTHERS]
SCHEMA = json.loads((ROOT / "workflow" / "schemas" / "config.schema.json").read_text())


@pytest.fixture(params=CONFIGS, ids=lambda path: path.stem)
def config(request):
    return request.param, yaml.safe_load(request.param.read_text())


def test_is_valid_and_named_after_its_file(config):
    path, tree = config
    jsonschema.validate(tree, SCHEMA)
    assert tree["name"] == path.stem


def test_names_what_exists(config):
    _, tree = config
    for name, options in tree["workloads"].items():
        workloads.load_workload(name).size(options["size"])
    assert set(tree["platforms"]) <= set(platforms.platform_names())
    host = tree["host"]
    workloads.load_workload(host["workload"]).size(tree["workloads"].get(host["workload"], host)["size"])
    assert set(tree["host"]["layouts"]) <= set(expected_names(tree["random_count"]))
    assert tree["explore"]["workload"] in tree["workloads"]
    assert tree["explore"]["platform"] in tree["platforms"]
    parse_sampling(tree["sampling"])
    select_models(tree.get("models", ()))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "A b"},
        {"typo": 1},
        {"platforms": []},
        {"engine": "partial"},
        {"models": []},
        {"models": "gp"},
    ],
)
def test_schema_refuses(change):
    tree = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text()) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tree, SCHEMA)


def test_the_main_job_is_every_row_of_table_5_on_three_platforms():
    """19 rows; the four licensed ones by their stand-ins."""
    tree = yaml.safe_load((ROOT / "config" / "default.yaml").read_text())
    published = pd.read_csv(ROOT / "reference-results" / "table5_workloads.csv")["workload"]
    found = [workloads.load_workload(name) for name in tree["workloads"]]
    assert sorted(one.rows["micro20"] for one in found) == sorted(published)
    assert {one.rows["micro20"] for one in found if one.stand_in_for} == {
        name for name in published if name.startswith("spec")
    }
    assert len(found) == 19 and len(tree["platforms"]) == 3
    plan = parse_sampling(tree["sampling"])
    assert plan.units * plan.warmup_accesses >= 50_000_000
    assert plan.units * plan.timed_instructions >= 20_000_000
    assert len(tree["host"]["layouts"]) == 6
