"""The benchmark of the models runs on generated and on real cells; its generated sets are ordinary."""

import pytest

from tessera.fit.benchmark import generated, main
from tessera.fit.fitting import fit_all

from .builders import make_frame, noisy


def test_generated_sets_determine_every_model():
    result = fit_all(generated(3), folds=[6])
    assert not result.failures and len(result.models) == 9 and result.samples == 54


def test_it_prints_each_part_and_the_limit(capsys):
    assert main(["--sets", "2", "--processes", "1", "--no-extras"]) == 0
    printed = capsys.readouterr().out
    assert "protocols" in printed and "for 2 sets" in printed and "limit" in printed and "kept" in printed


def test_cells_of_a_results_folder(tmp_path, capsys):
    path = tmp_path / "cells" / "gups" / "a-sim.csv"
    path.parent.mkdir(parents=True)
    make_frame(noisy()).to_csv(path, index=False)
    assert main([str(tmp_path), "--processes", "1"]) == 0
    assert "adaptive orders" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([str(tmp_path / "nothing")])
