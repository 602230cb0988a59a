"""The deposit's metadata say what CITATION.cff says."""

from __future__ import annotations

import json

import yaml

from tessera import __version__


def test_zenodo_metadata_agree_with_the_citation(root):
    deposit = json.loads((root / ".zenodo.json").read_text())
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {"title", "upload_type", "description", "creators", "license", "access_right"} <= deposit.keys()
    assert deposit["title"] == citation["title"] and deposit["version"] == citation["version"] == __version__
    assert deposit["license"] == citation["license"] and deposit["keywords"] == citation["keywords"]
    assert [creator["name"] for creator in deposit["creators"]] == [a["name"] for a in citation["authors"]]
    assert deposit["upload_type"] == citation["type"]


def test_the_records_that_it_refers_to_are_those_of_the_list(root):
    from tessera.core.reference import records

    related = {
        entry["identifier"]
        for entry in json.loads((root / ".zenodo.json").read_text())["related_identifiers"]
    }
    path = root / "reference-results" / "records.yaml"
    assert records.load_record("mitosis", path).doi in related
