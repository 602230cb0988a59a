"""Machine and power files: every committed value has a source, and what is refused names the key."""

from __future__ import annotations

import pytest
import yaml

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.reference import lookup
from tessera.lab.energy import guz_model, power, sourced_values

TABLE = "opera_table7"


@pytest.mark.parametrize("name", guz_model.machine_names())
def test_committed_machines(name):
    machine = guz_model.load_machine(name)
    assert machine.name == name and all(leaf.source for leaf in machine.values.values())
    assert all(
        leaf.assumed or "OPERA" in leaf.source or "Intel" in leaf.source for leaf in machine.values.values()
    )


def test_values_that_opera_prints():
    machine = guz_model.load_machine("opera-e7-4830v3")
    printed = {
        name: lookup(TABLE, {"quantity": name})
        for name in ("cores_per_socket", "llc", "clock", "threads_used")
    }
    assert machine.cores == printed["cores_per_socket"] and machine.threads == printed["threads_used"]
    assert machine.cache_bytes == printed["llc"] * 2**20 and machine.frequency_hz == printed["clock"] * 1e9


def tree() -> dict:
    return yaml.safe_load((repo_root() / "config" / "machines" / "guz-4mb.yaml").read_text())


def written(tmp_path, found) -> str:
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump(found))
    return str(path)


@pytest.mark.parametrize(
    ("key", "leaf", "value"),
    [
        ("cores", {"value": 0, "source": "s"}, "0"),
        ("cores", {"value": 1.5, "source": "s"}, "1.5"),
        ("locality_exponent", {"value": 1, "source": "s"}, "1"),
        ("static_w", {"value": -2.5, "source": "s"}, "-2.5"),
        ("static_w", {"value": "many", "source": "s"}, "many"),
        ("static_w", {"value": 1, "source": ""}, "static_w"),
        ("static_w", 60, "static_w"),
        ("colour", {"value": 1, "source": "s"}, "colour"),
        ("memory_cycles", {"value": 0.5, "source": "s"}, "0.5"),
    ],
)
def test_refused(tmp_path, key, leaf, value):
    path = written(tmp_path, tree() | {key: leaf})
    with pytest.raises(TesseraError) as caught:
        guz_model.load_machine(path)
    assert key in str(caught.value) and value in str(caught.value)


def test_a_missing_key_and_an_unknown_machine(tmp_path):
    found = tree()
    del found["cache_j"]
    with pytest.raises(TesseraError, match="cache_j"):
        guz_model.load_machine(written(tmp_path, found))
    with pytest.raises(TesseraError, match="guz-4mb"):
        guz_model.load_machine("absent")
    with pytest.raises(TesseraError, match=r"locality_exponent.*0.5"):
        guz_model.load_machine("guz-4mb").changed("test", locality_exponent=0.5)


def test_power_constants_are_swept_one_at_a_time_and_to_both_limits():
    given = power.read_power(power.default_power_file())
    sets = {one.name: one for one in power.swept_power(given)}
    assert len(sets) == 1 + 2 * len(power.KEYS) + 2
    for key in power.KEYS:
        up, down = sets[f"{key} x 4"], sets[f"{key} / 4"]
        assert up.of(key) == 4 * given.of(key) and down.of(key) == given.of(key) / 4
        assert all(up.of(other) == given.of(other) for other in power.KEYS if other != key)
    assert [sets["static only"].of(key) for key in power.KEYS[1:]] == [0] * 5
    assert sets["no static"].of("static_w") == 0


def test_a_power_file_without_any_constant(tmp_path):
    zero = {key: sourced_values.Leaf(0.0, "none") for key in power.KEYS}
    path = tmp_path / "p.yaml"
    path.write_text(sourced_values.leaves_text("zero", "nothing", zero))
    with pytest.raises(TesseraError, match=r"p\.yaml"):
        power.read_power(path)
