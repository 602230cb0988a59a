"""Run the components' tests (ctest) in the toolchain that built them.

``./run --reserve`` reserves huge pages for the tests. Without it, the tests that need them are skipped and
print how many are missing. ``build/<component>/ctest.log`` has the whole output of a component; the
terminal gets the failures and ctest's summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tessera.core.files import build_dir
from tessera.machine.container.command import RunOptions
from tessera.machine.container.toolchain import toolchain
from tessera.machine.limits import usable_processors
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages, reserving_allowed

#: Pages that the tests of mosalloc share, two at a time and with copies in forked children.
PAGES_2MB = 96
PAGES_1GB = 2

#: Limit in seconds for a test that sets no limit itself.
TIMEOUT_SECONDS = 600

#: Mosalloc holds writers back with userfaultfd, which the engine's usual filter denies. SYS_PTRACE gives
#: root the right to hold the kernel's writes, too; CHOWN and DAC_OVERRIDE let it make a folder of another
#: user and remove that. Tests that need them SKIP for other users.
OPTIONS = RunOptions(huge_pages=True, unconfined=True, capabilities=("SYS_PTRACE", "CHOWN", "DAC_OVERRIDE"))

Say = Callable[[str], None]


@contextmanager
def huge_pages(say: Say) -> Iterator[None]:
    """Huge pages for the tests, if reserving is allowed; tests without their pages are skipped."""
    with ExitStack() as stack:
        if reserving_allowed():
            for count_2mb, count_1gb in ((PAGES_2MB, 0), (0, PAGES_1GB)):
                try:
                    stack.enter_context(reserve_huge_pages(count_2mb, count_1gb))
                except HugePagesUnavailable as error:
                    say(f"tests that need these huge pages will be skipped: {error}")
        yield


def run_tests(component: str) -> tuple[int, str]:
    """Run one component's tests; returns ctest's exit status and its output without noise."""
    log = build_dir(component) / "ctest.log"
    argv = ["ctest", "--test-dir", build_dir(component), "--output-on-failure", "--no-tests=error"]
    argv += ["--timeout", str(TIMEOUT_SECONDS), "--parallel", str(usable_processors())]
    argv += ["--quiet", "--output-log", log]
    options = replace(OPTIONS, writes=(build_dir(component),))
    status = toolchain().run(argv, check=False, options=options).returncode
    return status, condensed(log.read_text(errors="replace") if log.exists() else "ctest wrote no log")


#: Lines of ctest's log to drop: tests that start, pass or skip (the summary lists the skipped).
_NOISE = re.compile(
    r"^\s*Start\s+\d+:|^\s*\d+/\d+ Test .* Passed\s|\*\*\*Skipped|^SKIP: "
    r"|^\[(HANDLER_)?OUTPUT\]|^Internal ctest|^Test project"
)


def condensed(output: str) -> str:
    """Output without the noise: failures with their messages, and the summary."""
    kept = [line for line in output.splitlines() if not _NOISE.search(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def ctest_summary(component: str) -> str:
    """ctest's summary line of the last run: ``100% tests passed, 0 tests failed out of 45``."""
    log = build_dir(component) / "ctest.log"
    found = (
        re.search(r"^\d+% tests passed.*$", log.read_text(errors="replace"), re.M) if log.exists() else None
    )
    return f"{component}: {found.group(0) if found else 'ctest did not finish'}"
