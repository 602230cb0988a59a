"""The built library under other versions of glibc: its cases, and random calls with and without it."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import ExitStack

from tessera.allocator_proof.suite.libraries import judge, plan
from tessera.allocator_proof.suite.libraries.bases import Base, BaseMissing, bases, image_of
from tessera.allocator_proof.suite.model import FAIL, SKIP, Check, Findings, ProofRequest, Section, counts
from tessera.core.errors import TesseraError
from tessera.core.paths import build_dir, built
from tessera.core.tables import table_text
from tessera.machine.container.component_tests import OPTIONS
from tessera.machine.container.engine import DOCKER, engine_name
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import DockerToolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages

#: A case asks for 8 pages, and a child that it forks may copy them.
PAGES_2MB = 16
#: For all runs of one C library; they take about 5 s.
SCRIPT_SECONDS = 300

HEADS = ("glibc", "system", "runs", "passed", "failed", "skipped", "s")


def run(request: ProofRequest) -> Findings:
    """Every base in turn; one without files is a skip with the reason."""
    built("mosalloc", "cases")
    checks: list[Check] = []
    rows: list[dict] = []
    with ExitStack() as held:
        missing = ""
        try:
            held.enter_context(reserve_huge_pages(PAGES_2MB))
        except HugePagesUnavailable as error:
            missing = f"{error.asked}: {error.found}; {error.remedy}"
        for base in bases():
            request.say(f"glibc {base.version}")
            started = time.monotonic()
            found = _under(base, request, missing)
            numbers = {verdict.lower(): count for verdict, count in counts(found).items()}
            seconds = round(time.monotonic() - started, 1)
            rows.append({"glibc": base.version, "system": base.system, "runs": len(found), **numbers,
                         "seconds": seconds})  # fmt: skip
            checks += found
    text = table_text(HEADS, [[str(value) for value in row.values()] for row in rows])
    return Findings(checks, text, rows)


def _under(base: Base, request: ProofRequest, no_pages: str) -> list[Check]:
    if engine_name() != DOCKER:
        reason = "a container holds the other C library: use the engine docker"
        return [Check(base.version, SKIP, reason)]
    conditions = [name for name in plan.CONDITIONS if name != "2mb" or not no_pages]
    folder = build_dir("libraries") / base.version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script, names = plan.write_script(folder, conditions)
    try:
        with image_of(base, request.say) as tag:
            process = DockerToolchain(tag).popen(
                ["sh", script], options=OPTIONS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            with stopped_at_exit(process):
                output = process.communicate(timeout=SCRIPT_SECONDS)[0]
    except BaseMissing as reason:
        return [Check(base.version, SKIP, str(reason))]
    except TesseraError as error:  # a base that the user gave, and that is not usable: the others still run
        return [Check(base.version, FAIL, " ".join(str(error).split()))]
    found = judge.checks(base.version, judge.Ran(output, folder), names)
    if no_pages:
        found.append(Check(f"{base.version} 2mb", SKIP, no_pages))
    failed = counts(found)[FAIL]
    request.say(f"glibc {base.version}: {len(found)} runs, {failed} failed")
    return found


SECTION = Section("libraries", "Other C libraries", run)
