"""Every test of the component (ctest): cases under each condition, unit tests, sanitizers, the fuzzer."""

from __future__ import annotations

from pathlib import Path

from tessera.allocator_proof.suite.junit import read_junit
from tessera.allocator_proof.suite.matrix import matrix_text, others_text, split
from tessera.allocator_proof.suite.model import FAIL, Check, Findings, ProofRequest, Section
from tessera.allocator_proof.suite.text import tail
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import build_dir
from tessera.machine.container.component_tests import OPTIONS, TIMEOUT_SECONDS, huge_pages
from tessera.machine.container.toolchain import toolchain
from tessera.machine.limits import processors


def run(request: ProofRequest) -> Findings:
    """Run ctest where the component was built, with huge pages if they can be had."""
    tests_file = (
        build_dir("mosalloc") / "proof-ctest.xml"
    )  # the toolchain sees the checkout, not every folder
    log = tests_file.with_suffix(".log")
    for file in (tests_file, log):
        file.unlink(missing_ok=True)
    argv: list[str | Path] = ["ctest", "--test-dir", build_dir("mosalloc"), "--no-tests=error", "--quiet"]
    argv += ["--timeout", str(TIMEOUT_SECONDS), "--parallel", str(processors())]
    argv += ["--output-on-failure", "--output-log", log, "--output-junit", tests_file]
    argv += ["-R", request.cases] if request.cases is not None else []
    with huge_pages(request.say):
        status = toolchain().run(argv, check=False, options=OPTIONS).returncode
    said = log.read_text(errors="replace") if log.exists() else "ctest wrote no log"
    if not tests_file.exists():
        raise TesseraError(
            f"ctest {f'-R {request.cases}' if request.cases is not None else 'of mosalloc'}",
            f"status {status}, no results: {tail(said)}",
            "build mosalloc with its tests: ./run tessera build --test mosalloc",
            exit_code=EXIT_FAILED,
        )
    tests = read_junit(tests_file)
    matrix, others = split(tests)
    checks = [Check(test.name, test.verdict, test.reason) for test in tests]
    if status != 0 and not any(check.verdict == FAIL for check in checks):
        checks.append(Check("ctest", FAIL, f"status {status} without a failed test: {tail(said)}"))
    text = "\n\n".join(part for part in (matrix_text(matrix), others_text(others)) if part)
    rows = [
        {"test": test.name, "verdict": test.verdict, "seconds": test.seconds, "reason": test.reason}
        for test in tests
    ]
    return Findings(checks, text, rows)


SECTION = Section("cases", "Case table", run)
