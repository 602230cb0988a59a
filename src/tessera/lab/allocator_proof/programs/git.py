"""git: a generated repository, committed, branched, packed by gc and checked by fsck."""

from __future__ import annotations

import hashlib

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

FILES = 120
VERSIONS = 3

#: Fixed names and dates give fixed commit hashes; no configuration of the machine takes part.
ENV = {
    "GIT_AUTHOR_NAME": "Tessera",
    "GIT_AUTHOR_EMAIL": "tessera@localhost",
    "GIT_COMMITTER_NAME": "Tessera",
    "GIT_COMMITTER_EMAIL": "tessera@localhost",
    "GIT_AUTHOR_DATE": "2020-10-17T12:00:00Z",
    "GIT_COMMITTER_DATE": "2020-10-17T12:00:00Z",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def file_text(number: int, version: int) -> str:
    """Lines that compress, but not to nothing; versions share most of them, so that deltas are found."""
    lines = [hashlib.sha256(f"{number}.{i}".encode()).hexdigest() for i in range(20 + number % 150)]
    lines[number % len(lines)] = f"version {version}"
    return "\n".join(lines) + "\n"


def drive(box: Box) -> str:
    tree = box.folder / "tree"
    tree.mkdir()
    # Debian has two copies; git starts its children from this one, which makes them targets as well.
    program = f"{box.tool(['git', '--exec-path']).out.strip()}/git"

    def git(*words: str) -> str:
        return box.run([program, "-C", tree, *words], env=ENV).out

    git("init", "--quiet", "--initial-branch", "main")
    git("config", "gc.autoDetach", "false")
    git("config", "pack.threads", "2")
    for version in range(VERSIONS):
        for number in range(FILES):
            (tree / f"file{number:03d}.txt").write_text(file_text(number, version))
        git("add", "--all")
        git("commit", "--quiet", "--message", f"version {version}")
    git("gc", "--quiet", "--aggressive", "--prune=now")
    fsck = git("fsck", "--full", "--strict")
    expect_equal("git fsck", fsck, "")
    expect_equal("git status", git("status", "--short"), "")
    log = git("log", "--format=%H %T", "--stat=80")
    expect_equal("commits", log.count("file000.txt"), VERSIONS)
    counted = git("count-objects", "-v")
    loose = [line for line in counted.splitlines() if line.startswith(("count:", "packs:", "in-pack:"))]
    return log + "\n".join(loose)


PROGRAM = ProvedProgram(
    name="git",
    what="init, 3 commits of 120 files, gc, fsck, log; commit hashes as in the plain run",
    drive=drive,
    needs=(Need("git", "git"),),
    heap_bytes=16 * MB,
    anon_bytes=16 * MB,
    processes=5,  # gc > repack > pack-objects
)
