"""The C tests of both components, built and run in the toolchain."""

from __future__ import annotations

import pytest

from tessera.lab.faults import measured, recorder
from tessera.machine.container import component_tests
from tessera.machine.container.build import build_component

pytestmark = pytest.mark.toolchain


@pytest.mark.parametrize(("component", "tests"), [(measured.COMPONENT, 5), (recorder.COMPONENT, 2)])
def test_its_own_tests_pass(component, tests):
    build_component(component, print, tests=True)
    status, output = component_tests.run_tests(component)
    assert status == 0, output
    assert component_tests.ctest_summary(component).endswith(f"0 tests failed out of {tests}")
