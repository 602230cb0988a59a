"""The page of threads and energy: sets of constants, pairs, Table 7, machines, and the sweep over L3."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd

from tessera.lab.energy import guz_model, power


def words(rendered) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", (rendered / "energy.html").read_text()))


def test_every_set_of_constants_and_every_pair_is_there(rendered):
    shown = words(rendered)
    for one in power.swept_power(power.read_power(power.default_power_file())):
        assert one.name in shown
    saved = pd.read_csv(rendered.parent / "energy" / "savings.csv")
    for workload in set(saved["workload"]):
        assert workload in shown
    ratio = saved[saved["constants"] == power.BASELINE]["ratio_2mb"].median()
    assert f"{ratio:.3f}" in shown


def test_sources_of_values_and_printed_numbers_are_there(rendered):
    shown = words(rendered)
    assert all(name in shown for name in guz_model.machine_names())
    assert shown.count("assumed") > 20 and "bodytrack" in shown and "DDR2" in shown


def test_the_sweep_with_its_fit(rendered):
    shown = words(rendered)
    assert "a = 1.5" in shown and "w = 65,540" in shown


def test_figures_are_linked(rendered):
    text = (rendered / "energy.html").read_text()
    for name in ("energy", "opera-fig11", "opera-fig12"):
        assert f"figures/{name}.svg" in text
        assert (rendered / "figures" / f"{name}.svg").is_file()
