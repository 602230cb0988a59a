"""CITATION.cff has what the format requires; licences are where LICENSE says."""

from __future__ import annotations

import yaml

from tessera import __version__


def test_citation_file(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # required by CFF 1.2.0
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == __version__
    assert citation["license"] == "MIT"
    reference = citation["preferred-citation"]
    assert {"type", "title", "authors"} <= reference.keys()
    assert all("family-names" in author or "name" in author for author in reference["authors"])


def test_gpl_text_is_complete_and_named(root):
    text = (root / "LICENSES" / "GPL-2.0-only.txt").read_text()
    assert "Version 2, June 1991" in text and "END OF TERMS AND CONDITIONS" in text
    licence = (root / "LICENSE").read_text()
    assert licence.startswith("MIT License")
    for folder in ("artifacts/tracer/plugin", "artifacts/kernel"):
        assert folder in licence
        assert (root / folder).is_dir()
