"""The decision: which source answers, at which level, and what is never printed. One named row per case."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.fit.models.base import CannotFit
from tessera.fit.predict.answers import Answer, Refused
from tessera.fit.predict.bracket import Bracket, ChangedCounts, ProcessorCounts
from tessera.fit.predict.calibrated import Calibrated, Clocks
from tessera.fit.predict.decision import (
    LEVELS,
    REMARKS,
    REMEDIES,
    Decision,
    Question,
    cycles_text,
    decide_question,
    refused_question,
)
from tests.models.builders import make_samples

TOP, HITS, WALKS = 1e9, 5e6, 0.5e9
R0 = 2.6e9  #: at the base: 2e9 + 0.6 TOP
OPEN = {"reach": (True, "of 11 workloads"), "walk-cost": (False, "covers 50%")}
FAST, FASTER = 2.3e9, 2.0e9


def line(C):
    return 2e9 + 0.6 * np.asarray(C)


def fitted(n=19) -> Bracket:
    C = np.linspace(1, 0.02, n) * TOP
    C[[8, n - 1]] = C[[n - 1, 8]]  # growing-8 is the 2MB run
    return Bracket.fit(make_samples(line(C), np.full(n, HITS), C / 30, C), hit_cycles=7)


BRACKET = fitted()
GOOD = Calibrated(0.0, 1.0, 0.001)
NOISY = Calibrated(0.0, 1.0, 0.03)
FEW = CannotFit("bracket", "11 distinct layouts of P, and 12 are needed", "add", code="few-layouts")


def question(groups=("reach",), C=WALKS, **more) -> Question:
    """Half of the walk cycles are gone; the bracket says 2.3e9."""
    known = {"base": ProcessorCounts(R0, HITS, TOP), "asked": ChangedCounts(HITS, C)}
    return Question("large STLB", groups, **(known | more))


def clocks(new, base=R0) -> Clocks:
    """S is R, so S' is the answer."""
    return Clocks(base, base, new)


MEASURED = {"measured": True, "open": OPEN}
SIMULATED = {"simulated": True}
# name: (question, bracket, calibrated, source, level, some codes)
CASES = {
    "calibrated on a measured P": (
        question(clocks=clocks(FAST), **MEASURED), BRACKET, GOOD, "calibrated", "A", ()),
    "calibrated on a simulated P": (
        question(clocks=clocks(FAST), **SIMULATED), BRACKET, GOOD, "calibrated", "C", ("simulated",)),
    "calibrated answers for invisible": (
        question(("invisible",), clocks=clocks(FAST), **MEASURED), BRACKET, GOOD, "calibrated", "A", ()),
    "calibrated answers for behind-l3": (
        question(("behind-l3",), clocks=clocks(FAST), **MEASURED), None, GOOD, "calibrated", "A", ()),
    "the gate refuses: bracket": (
        question(clocks=clocks(FAST), **MEASURED), BRACKET, NOISY, "bracket", "B", ()),
    "no clock: bracket, open": (question(**MEASURED), BRACKET, None, "bracket", "B", ()),
    "one class is not open": (
        question(("reach", "walk-cost"), **MEASURED), BRACKET, None, "bracket", "C", ("not-open",)),
    "no study says open": (question(("hit-time",), **MEASURED), BRACKET, None, "bracket", "C", ("not-open",)),
    "openness does not raise a simulated P": (
        question(simulated=True, open=OPEN), BRACKET, None, "bracket", "C", ("simulated",)),
    "nobody says where R is from": (question(open=OPEN), BRACKET, None, "bracket", "C", ("provenance",)),
    "bracket, and the engine agrees": (
        question(engine=FAST, **SIMULATED), BRACKET, None, "bracket", "C", ("simulated",)),
    "the engine is outside the bracket": (
        question(engine=FASTER, **SIMULATED), BRACKET, None, "none", "none", ("engine-outside",)),
    "calibrated and bracket are disjoint": (
        question(clocks=clocks(FASTER), **MEASURED), BRACKET, Calibrated(0, 1, 0.001), "none", "none",
        ("disjoint",)),
    "invisible has the engine": (
        question(("invisible",), engine=FAST, **SIMULATED), BRACKET, None, "engine", "D", ("unchecked",)),
    "reach and invisible together, too": (
        question(("reach", "invisible"), engine=FAST, **SIMULATED), BRACKET, None, "engine", "D",
        ("unchecked",)),
    "behind-l3 of a measured P": (question(("behind-l3",), **MEASURED), BRACKET, None, "none", "none",
                           ("no-clock", "class", "no-engine")),
    "keys outside the classes: engine": (
        question((), unknown=("cache.l2.ways=4",), engine=FAST, **SIMULATED), BRACKET, None, "engine", "D",
        ("unchecked",)),
    "the same, and a class beside": (
        question(unknown=("cache.l2.ways=4",), engine=FAST, clocks=clocks(FAST), **SIMULATED), BRACKET, GOOD,
        "engine", "D", ("unchecked",)),
    "the same, P measured": (
        question((), unknown=("cache.l2.ways=4",), clocks=clocks(FAST), **MEASURED), BRACKET, GOOD, "none",
        "none", ("unclassed", "no-engine")),
    "no class": (question((), **MEASURED), BRACKET, None, "none", "none", ("class-absent",)),
    "11 layouts, and the engine": (question(engine=FAST, **SIMULATED), FEW, None, "engine", "D", ()),
    "11 layouts of a measured P": (question(**MEASURED), FEW, FEW, "none", "none", ("few-layouts",)),
    "no samples": (question(**MEASURED), None, None, "none", "none", ("no-samples",)),
    "C' is 0": (question(C=0.0, **MEASURED), BRACKET, None, "none", "none", ("no-walks",)),
    "C' is 4 times the largest": (
        question(C=4.0 * TOP, **MEASURED), BRACKET, None, "none", "none", ("wide",)),
    "C' is 4.01 times the largest": (
        question(C=4.01 * TOP, **MEASURED), BRACKET, None, "none", "none", ("far",)),
    "C' is negative": (question(C=-1.0, **MEASURED), BRACKET, None, "none", "none", ("c-negative",)),
    "C' is NaN": (question(C=math.nan, **MEASURED), BRACKET, None, "none", "none", ("c-not-finite",)),
    "H' is absent": (question(asked=ChangedCounts(None, WALKS), **MEASURED), BRACKET, None, "none", "none",
                     ("h-absent",)),
    "R_0 is absent": (question(base=ProcessorCounts(None, HITS, TOP), **MEASURED), BRACKET, None, "none",
                      "none", ("r0-absent",)),
    "no base at all": (question(base=None, **MEASURED), BRACKET, None, "none", "none",
                       ("r0-absent", "h0-absent", "c0-absent")),
    "the engine's R is 0": (
        question(("invisible",), engine=0.0, **SIMULATED), BRACKET, None, "none", "none", ("r-zero",)),
    "the engine's R is NaN": (
        question(("invisible",), engine=math.nan, **SIMULATED), BRACKET, None, "none", "none",
        ("r-not-finite",)),
    "no clock of the design": (
        question(("invisible",), clocks=Clocks(R0, R0, None), **MEASURED), BRACKET, GOOD, "none", "none",
        ("s-absent",)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_source_level_and_reasons(case):
    asked, bracket, calibrated, source, level, codes = CASES[case]
    found = decide_question(asked, bracket, calibrated)
    assert (found.source, found.level) == (source, level)
    assert (found.answer is None) == (source == "none") and set(codes) <= set(found.codes)
    assert set(found.others) == {"calibrated", "bracket", "engine"}, "what each source said is kept"
    if source != "none":
        assert found.answer.source == source and set(found.codes) <= set(REMARKS)
    else:
        assert found.remedies and set(found.codes) <= set(REMEDIES)
    check_printed(found)


def check_printed(found: Decision):
    """No runtime without source and level; none that is 0, negative or not finite; JSON without NaN."""
    entry = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    numbers = [entry[key] for key in ("runtime_cycles", "low_cycles", "high_cycles", "base_runtime_cycles")]
    numbers += [v for one in entry["sources"].values() for k, v in one.items() if k.endswith("_cycles")]
    assert all(number is None or number > 0 for number in numbers)
    assert entry["source"] == found.source and entry["level"] in LEVELS
    text = "\n".join([found.sentence(), *found.lines()])
    assert not BAD_RUNTIME.search(text), text
    if found.answer is None:
        assert "no answer" in found.sentence() and "cycles" not in found.sentence()
    else:
        assert f"source {found.source}, level {found.level}" in found.sentence()


def test_the_sentence_by_hand():
    found = decide_question(question(**MEASURED), BRACKET, None)
    assert found.answer.centre == pytest.approx(2.3e9, rel=1e-3)
    low, high = found.answer.low / R0 - 1, found.answer.high / R0 - 1
    expected = f"large STLB: -11.5% of P ({low:+.1%} to {high:+.1%}), 2.30e9 cycles, source bracket, level B"
    assert found.sentence() == expected
    assert low < -0.115 < high < 0


def test_an_interval_with_r0_tells_no_difference():
    same = decide_question(question(C=TOP, **MEASURED), BRACKET, None)
    assert same.codes == ("no-difference",) and same.answer.centre == R0
    assert "no-difference" not in decide_question(question(**MEASURED), BRACKET, None).codes


def test_both_of_a_contradiction_are_printed():
    for case, shown in (
        ("calibrated and bracket are disjoint", ("calibrated: -23.1%", "bracket: -11.5%")),
        ("the engine is outside the bracket", ("engine: -23.1%", "bracket: -11.5%")),
    ):
        asked, bracket, calibrated, *_ = CASES[case]
        text = "\n".join(decide_question(asked, bracket, calibrated).lines())
        assert all(part in text for part in shown), text


def test_the_engine_is_beside_the_bracket_and_has_no_interval():
    beside = decide_question(question(engine=FAST, **SIMULATED), BRACKET, None)
    assert any(line.startswith("engine: -11.5% of P, 2.30e9 cycles") for line in beside.lines())
    alone = decide_question(question(("invisible",), engine=FAST, **SIMULATED), BRACKET, None)
    assert alone.sentence() == "large STLB: -11.5% of P, 2.30e9 cycles, source engine, level D"
    assert alone.as_dict()["low_cycles"] is None and "not checked against a processor" in alone.lines()
    unknown = decide_question(question(("invisible",), base=None, engine=FAST, **SIMULATED), BRACKET, None)
    assert unknown.sentence() == "large STLB: 2.30e9 cycles, source engine, level D"
    assert unknown.as_dict()["base_runtime_cycles"] is None


def test_a_question_that_states_too_little():
    from tessera.fit.predict.answers import Reason

    found = refused_question(
        question(**MEASURED), [Reason("hits-unstated", "nothing says what stlb_hits counts")]
    )
    assert (found.source, found.codes, found.others) == ("none", ("hits-unstated",), {})
    assert found.lines()[0] == "nothing says what stlb_hits counts" and "--hits-are" in found.lines()[1]
    check_printed(found)


def test_p_is_not_simulated_and_measured():
    with pytest.raises(ValueError, match="both"):
        question(simulated=True, measured=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.31e9, "1.31e9"), (9999.4, "9999"), (9999.6, "1.00e4"), (12, "12"), (0.5, "0.5"), (2.5e12, "2.50e12")],
)
def test_cycles(value, text):
    assert cycles_text(value) == text


BAD_RUNTIME = re.compile(r"(?<![\w.])-[\d.]+(e\d+)?( to [\d.e]+)? cycles|\b(inf|nan) cycles")
NUMBERS = st.one_of(
    st.none(), st.sampled_from([0.0, -1.0, math.nan, math.inf, -math.inf]), st.floats(-1e10, 1e10),
    st.floats(1e8, 5e9),
)  # fmt: skip
GROUPS = st.lists(
    st.sampled_from(["control", "reach", "hit-time", "invisible", "walk-cost", "behind-l3"]),
    max_size=2,
    unique=True,
)


@settings(max_examples=300, deadline=None)
@given(
    GROUPS, st.booleans(), st.sampled_from(["measured", "simulated", "neither"]),
    st.lists(NUMBERS, min_size=9, max_size=9), st.sampled_from([BRACKET, FEW, None]),
    st.sampled_from([GOOD, NOISY, FEW, None]),
)  # fmt: skip
def test_whatever_is_asked_nothing_bare_or_negative_is_said(groups, unknown, origin, n, bracket, calibrated):
    asked = Question(
        "x", tuple(groups), ("core.rob=9",) if unknown else (), ProcessorCounts(*n[:3]),
        ChangedCounts(n[3], n[4]), Clocks(*n[5:8]),
        n[8] if origin == "simulated" else None, origin == "simulated", origin == "measured",
        OPEN,
    )  # fmt: skip
    found = decide_question(asked, bracket, calibrated)
    check_printed(found)
    if found.source == "calibrated":
        assert isinstance(calibrated, Calibrated) and not unknown
    if found.source == "bracket":
        assert set(groups) <= {"control", "reach", "hit-time", "walk-cost"} and groups and not unknown
    if found.level in ("A", "B"):
        assert origin == "measured"
    for said in found.others.values():
        assert isinstance(said, Answer | Refused)
