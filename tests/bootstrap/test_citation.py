"""CITATION.cff has what the format requires; licences are where LICENSE says."""

from __future__ import annotations

import re
import subprocess
import tomllib

import yaml

from tessera import __version__
from tests.in_process import tessera


def git(*words, cwd):
    return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout


def test_citation_file(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # required by CFF 1.2.0
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == "MIT"
    reference = citation["preferred-citation"]
    assert {"type", "title", "authors"} <= reference.keys()
    assert all("family-names" in author or "name" in author for author in reference["authors"])


def test_one_version(root):
    """The project, its citation, its newest changes and its command state the same one."""
    newest = re.search(r"^## ([\w.]+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    stated = {
        "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"],
        "CITATION.cff": yaml.safe_load((root / "CITATION.cff").read_text())["version"],
        "CHANGELOG.md": newest and newest[1],
        "tessera --version": tessera("--version").stdout.split()[-1],
    }
    assert stated == dict.fromkeys(stated, __version__)


def test_licences_are_where_the_files_say(root):
    """An SPDX line of a file, the paths of REUSE.toml and the folders of LICENSE agree."""
    text = (root / "LICENSES" / "GPL-2.0-only.txt").read_text()
    assert "Version 2, June 1991" in text and "END OF TERMS AND CONDITIONS" in text
    licence = (root / "LICENSE").read_text()
    assert licence.startswith((root / "LICENSES" / "MIT.txt").read_text().split("\n---")[0].rstrip())
    everything, gpl = tomllib.loads((root / "REUSE.toml").read_text())["annotations"]
    assert everything["path"] == "**" and everything["SPDX-License-Identifier"] == "MIT"
    folders = [path.removesuffix("**") for path in gpl["path"]]
    for folder in folders:
        assert folder.rstrip("/") in licence and (root / folder).is_dir()
    said = git("grep", "-lE", "^.{0,8}SPDX-License-Identifier: GPL", cwd=root).splitlines()
    assert len(said) > 80
    assert [path for path in said if not path.startswith(tuple(folders))] == []


def test_gpl_sources_say_so(root):
    """A compiled file in a GPL folder says its licence itself, or that it is MIT."""
    folders = ("artifacts/tracer/plugin", "artifacts/kernel", "artifacts/kernel-stream/plugin")
    sources = git(
        "ls-files", *[f"{folder}/*.{end}" for folder in folders for end in "ch"], cwd=root
    ).splitlines()
    assert len(sources) > 50
    assert [
        path for path in sources if "SPDX-License-Identifier" not in (root / path).read_text()[:200]
    ] == []
