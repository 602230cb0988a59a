"""Numbers in sentences of docs/explain and docs/results are those of the archive and of the claims."""

import pandas as pd

from tessera.core.files import repo_root
from tessera.report.claims import judged_claims
from tessera.report.claims.load import PROOF_READING, claims_path

from . import pages

STUDY = repo_root() / "notebooks/data/studies/transfer"


def prose(page: str) -> str:
    return " ".join(pages.text(page).split())


def test_the_answer_about_models_is_that_of_the_archive():
    verdicts = pd.read_csv(STUDY / "verdicts.csv")
    counted = verdicts[verdicts["inputs"] == "counted"].set_index(["group", "model"])
    passing, judged = counted["passing"], counted["judged"]
    text = prose("transfer.md")
    assert f"poly3 is right for {passing['reach', 'poly3']} of {judged['reach', 'poly3']} questions" in text
    assert f"Mosmodel is right for {passing['reach', 'mosmodel']}, fewer" in text
    assert f'"nothing changes" ({passing["reach", "constant"]})' in text
    shares = (passing / judged).unstack("group")
    assert (shares[["hit-time", "walk-cost"]] < 0.9).all().all() and (shares["behind-l3"] < 0.5).all()
    good = counted.loc[("reach", "mosmodel")]
    assert (good["good_good"] + good["good_bad"], good["good_bad"]) == (8, 5)
    table = pd.read_csv(STUDY / "new_designs.csv").set_index(["scope", "group"]).loc[("new", "all")]
    answered = f"answers {table['answered']} of {table['judged']:,} questions"
    assert f"{answered} about new workloads with an interval, and R is in {table['covered']}" in text


def test_negative_runtimes_of_mosmodel_are_those_of_the_archive():
    of = {"workload": "gups-8gb", "variant": "stlb-x4", "inputs": "counted"}
    points, guesses = (
        rows[rows[list(of)].eq(pd.Series(of)).all(axis=1)]
        for rows in (pd.read_csv(STUDY / f"{name}.csv.gz") for name in ("points", "predictions"))
    )
    by_model = guesses.pivot(index="layout", columns="model", values="predicted_cycles")
    runtime = points.set_index("layout")["runtime_cycles"]
    negative = runtime[by_model["mosmodel"] < 0] / 1e6
    near = ((by_model["poly3"] / runtime - 1).abs() <= 0.03).sum()
    assert (
        f"Under {len(negative)} of {len(runtime)} layouts, Mosmodel predicts a negative runtime; "
        f"the true ones are {negative.min():.0f} to {negative.max():.0f} million cycles. "
        f"Under {near} of the {len(runtime)}, poly3 is within 3%."
    ) in prose("transfer.md")


def test_each_contradiction_of_the_papers_is_a_row():
    """The page has the claims with an explanation."""
    heads = "| paper | section | sentence | what contradicts it | claim |"
    listed = [row[4] for row in pages.table("contradictions.md", heads)]
    found = judged_claims(repo_root() / "results", claims_path().with_name(PROOF_READING))
    assert sorted(listed) == sorted(found.loc[found["verdict"] == "CONTRADICTED", "id"])
