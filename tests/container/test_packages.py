"""Both engines have the same tools: the image's packages and those that ./run installs for engine none."""

from __future__ import annotations

import re
import subprocess

from tessera.machine.container.build import PROGRAMS


def image_packages(root) -> set[str]:
    text = (root / "docker" / "toolchain" / "Dockerfile").read_text().replace("\\\n", " ")
    listed = re.search(r"apt-get install -y -qq --no-install-recommends([^&]*)", text).group(1)
    return set(listed.split())


def host_packages(root) -> set[str]:
    script = f"source {root}/bootstrap/packages.sh; packages_of none"
    return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split())


def test_engine_none_gets_what_the_image_has(root):
    assert image_packages(root) - host_packages(root) == {"python3"}  # every machine that runs ./run has it


def test_programs_that_are_looked_for_are_installed(root):
    assert set(PROGRAMS.values()) <= host_packages(root)


def test_no_registry_and_no_host_is_named(root):
    for path in (root / "docker").rglob("*"):
        if path.is_file():
            assert not re.search(r"https?://|docker\.io/", path.read_text()), path
