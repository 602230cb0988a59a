"""The committed configurations ask for studies that can be made."""

import json
import re

import pytest
import yaml

from tessera.cli.pipeline.simulation import expected_names
from tessera.core import platforms, scenarios
from tessera.core.errors import TesseraError
from tessera.core.mapping.kinds import ALL_KINDS
from tessera.lab import catalogue
from tessera.lab import study as studies_of_lab
from tessera.lab.studies import design_catalogue
from tessera.lab.studies.designs import check_pairs, pairs_of
from tessera.lab.studies.placements import check_kinds
from tessera.record import workloads
from tessera.simulate.sampling import parse_sampling

CONFIGS = ("smoke", "default", "paper")


@pytest.fixture(params=CONFIGS)
def config(request, root):
    return yaml.safe_load((root / "config" / f"{request.param}.yaml").read_text())


def test_names_exist(config):
    studies = config["studies"]
    known = set(expected_names(config["random_count"]))
    for name, study in studies.items():
        if name in ("probes", "placements"):  # their accesses come from a formula
            assert study["platform"] in platforms.platform_names()
            continue
        if name in ("scenarios", "virtuoso"):  # recordings are their own
            assert study["platform"] in platforms.platform_names()
            for row, asked in study["workloads"].items():
                assert workloads.load_workload(row).size(asked["size"])
                named = [*study["scenarios"], *asked.get("also", [])]
                assert len(set(named)) == len(named) and set(named) <= set(scenarios.scenario_names())
            continue
        assert set(study.get("workloads", [study.get("workload")])) <= set(config["workloads"])
        asked = study.get("platforms", [study.get("platform")])
        assert set(asked) <= set(platforms.platform_names())
        assert name == "designs" or set(asked) <= set(config["platforms"])  # its cells are not the run's
        assert set(study.get("layouts", [])) <= known
        assert set(study.get("every_on", asked)) <= set(asked)


def test_designs_ask_also_for_workloads_of_the_run_and_for_known_designs_and_mappings(config):
    asked = config["studies"].get("designs", {})
    designs = {*design_catalogue.DESIGN_NAMES, *design_catalogue.VARIANT_NAMES}
    assert set(asked.get("also", {})) <= set(config["workloads"])
    for pairs in asked.get("also", {}).values():
        check_pairs(pairs)
        asked_for = [pair for text in pairs for pair in pairs_of(text)]
        assert len(set(asked_for)) == len(asked_for)
        assert {design for design, _ in asked_for} <= designs


def test_the_schema_takes_the_mappings_and_the_pairs_that_the_studies_take(root):
    schema = json.loads((root / "workflow" / "schemas" / "config.schema.json").read_text())
    studies = schema["properties"]["studies"]["properties"]
    for name in ("designs", "transfer"):
        assert studies[name]["properties"]["mappings"]["items"] == {"$ref": "#/$defs/mapping"}
    mapping = re.compile(schema["$defs"]["mapping"]["pattern"])
    pair = re.compile(studies["designs"]["properties"]["also"]["additionalProperties"]["items"]["pattern"])
    for kind in [*ALL_KINDS, *(f"low-over-{kind}" for kind in ALL_KINDS)]:
        check_kinds([kind])
        assert mapping.search(kind) and pair.search(f"anchor:{kind}") and pair.search(f"a+b:{kind}+low")
    for kind in (
        "pages-7",
        "pages-131072",
        "low-adjacent",
        "low-over-",
        "low-over-low-over-low",
        "lowmax",
        "",
    ):
        with pytest.raises(TesseraError):
            check_kinds([kind])
        assert not mapping.search(kind)
        assert not pair.search(f"anchor:{kind}") and not pair.search(f"anchor:low+{kind}")
    for text in ("anchor", "anchor+:low", "anchor:low+", "a:low:max", "a:+low"):
        with pytest.raises(ValueError):
            check_pairs([text])
        assert not pair.search(text)
    assert not pair.search("thp,anchor:low")


def test_plans_are_samples_of_their_window(config):
    # The simulator takes a plan that would cover everything as `full`; warm-up alone must leave room.
    studies = config["studies"]
    plans = [(text, studies["sampling"]["window_accesses"]) for text in studies["sampling"]["plans"]]
    plans += [
        (studies[name]["sampling"], studies[name]["window_accesses"]) for name in ("ablations", "sweep")
    ]
    if others := studies["ablations"].get("mispredictions"):
        plans.append((others["sampling"], others["window_accesses"]))
    for text, window in plans:
        plan = parse_sampling(text)
        assert plan.units * plan.warmup_accesses < 0.9 * window, text


def test_the_first_plan_is_the_pipelines(config):
    if config["name"] != "smoke":
        assert config["studies"]["sampling"]["plans"][0] == config["sampling"]


def test_default_studies_three_rows_on_all_platforms_and_paper_500_million_accesses(root):
    default, paper = (yaml.safe_load((root / "config" / f"{n}.yaml").read_text()) for n in CONFIGS[1:])
    assert default["studies"]["ablations"]["platforms"] == default["platforms"]
    studied = set(default["studies"]["ablations"]["workloads"])
    assert len(studied) == 3 and studied == set(default["studies"]["sampling"]["workloads"])
    assert paper["studies"]["sampling"]["window_accesses"] == 500_000_000
    assert len(paper["studies"]["sampling"]["layouts"]) == 4


#: Sections of the configuration that another name of a study reads.
STUDY_OF = {"placements": "numa-placements", "threads": "threads-sweep"}


def test_a_key_of_a_section_chooses_jobs_or_is_a_key_of_its_study(root):
    schema = json.loads((root / "workflow" / "schemas" / "config.schema.json").read_text())
    for section, about in schema["properties"]["studies"]["properties"].items():
        one = studies_of_lab.load(catalogue.STUDIES, STUDY_OF.get(section, section))
        left = set(about["properties"]) - catalogue.CHOOSE_JOBS - set(one.parameters)
        assert left <= ({"every_on", "mispredictions"} if section == "ablations" else set()), section
