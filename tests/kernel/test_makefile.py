"""A checkout with spaces: the kernel's Makefile gets its second name, and without a container an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import build_tools
from tessera.machine.program_paths import CHECKOUT


class Tools:
    """Keeps the last command."""

    def run(self, argv, *, env, options):
        self.argv, self.env, self.also = argv, env, options.also


@pytest.mark.parametrize("engine", ["docker", "none"])
def test_a_path_without_spaces_is_passed_on(monkeypatch, engine):
    monkeypatch.setenv("TESSERA_ROOT", "/checkout")
    monkeypatch.setenv("TESSERA_ENGINE", engine)
    tools = Tools()
    build_tools.run_build_script(
        tools, [Path("/checkout/x.sh"), "/checkout/build"], {"CCACHE_DIR": "/checkout/c"}
    )
    assert tools.argv == ["/checkout/x.sh", "/checkout/build"] and tools.also == ()
    assert tools.env == {"CCACHE_DIR": "/checkout/c"}


def test_a_path_with_spaces_has_a_second_name_in_the_container(monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", "/a checkout")
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    tools = Tools()
    build_tools.run_build_script(tools, [Path("/a checkout/x.sh"), "/other"], {"CCACHE_DIR": "/a checkout/c"})
    assert tools.argv == [f"{CHECKOUT}/x.sh", "/other"] and tools.env == {"CCACHE_DIR": f"{CHECKOUT}/c"}
    assert tools.also == ((Path("/a checkout"), CHECKOUT),)
    assert (
        build_tools.checkout_names().text("/a checkout/p /a checkout/q\n") == f"{CHECKOUT}/p {CHECKOUT}/q\n"
    )


def test_without_a_container_it_is_an_error(monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", "/a checkout")
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    with pytest.raises(TesseraError) as refused:
        build_tools.run_build_script(Tools(), ["x.sh"], {})
    assert refused.value.code == "kernel-path" and "/a checkout" in refused.value.asked
