"""Calibrated simulation: a planted line exactly, noise and slopes at both sides of the gate, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import Samples
from tessera.fit.predict.answers import Answer, Refused
from tessera.fit.predict.calibrated import Calibrated, Clocks, line

from .builders import make_samples

N = 24
S = np.linspace(1e9, 2e9, N)


def fitted(R, clocks=S) -> Calibrated:
    """R (n,) of P, S by the simulator."""
    known = known_samples(R)
    return Calibrated.fit(known, dict(zip(known.layouts, clocks, strict=True)))


def known_samples(R) -> Samples:
    n = len(R)
    return make_samples(R, np.arange(n), np.arange(n), 1e6 * np.arange(n))


def test_a_line_exactly():
    """R = 2 S + 5: the line and its estimate are exact; the gate refuses the slope, and so no answer."""
    calibrated = fitted(2 * S + 5)
    assert calibrated.slope == pytest.approx(2, rel=1e-9)
    assert calibrated.intercept == pytest.approx(5, abs=1e-9 * 2e9)
    assert calibrated.error < 1e-9
    clocks = Clocks(2 * 1.5e9 + 5, 1.5e9, 1.2e9)
    assert calibrated.estimates(clocks)["line"] == pytest.approx(2 * 1.2e9 + 5, rel=1e-9)
    found = calibrated.answer(clocks)
    assert "slope" in found.codes and "error" not in found.codes


@pytest.mark.parametrize("slope, offset", [(1.0, 5.0), (1.0, 1e6), (1.4, 5.0), (0.7, 5.0), (1.0, 0.0)])
def test_a_line_in_the_gate_is_answered_exactly(slope, offset):
    """S' is close to S_0, so that all three estimates agree."""
    before, after = 1.5e9, 1.5e9 * 0.98
    R = slope * after + offset
    calibrated = fitted(slope * S + offset)
    clocks = Clocks(slope * before + offset, before, after)
    assert calibrated.estimates(clocks)["line"] == pytest.approx(R, rel=1e-9)
    found = calibrated.answer(clocks)
    assert isinstance(found, Answer) and found.low <= R <= found.high
    if slope == 1:
        assert found.centre == pytest.approx(R, rel=1e-9)
        assert found.half_width == pytest.approx(0.01, rel=0.05)


def test_by_hand():
    """R_0 = 110, S_0 = 100, S' = 99, b = 1: ratio 108.9, difference 109, line 109."""
    found = fitted(S + 1e8).answer(Clocks(110.0, 100.0, 99.0))
    assert found.estimates == pytest.approx({"ratio": 108.9, "difference": 109.0, "line": 109.0})
    assert found.centre == pytest.approx(109.0)
    assert (found.low, found.high) == pytest.approx((108.9 - 1.09, 109.0 + 1.09))
    assert not found.differs


@pytest.mark.parametrize("share, accepted", [(0.0, True), (0.005, True), (0.03, False)])
def test_noise(share, accepted):
    for seed in range(30):
        noise = share * np.random.default_rng(seed).uniform(-1, 1, N)
        calibrated = fitted(S * (1 + noise))
        found = calibrated.answer(Clocks(1.5e9, 1.5e9, 1.45e9))
        assert isinstance(found, Answer) == accepted, (seed, found)
        if accepted:
            assert found.low <= 1.45e9 <= found.high
        else:
            assert "error" in found.codes


@pytest.mark.parametrize(
    "slope, accepted", [(0.3, False), (0.66, False), (0.68, True), (1.49, True), (1.51, False)]
)
def test_slopes(slope, accepted):
    R = slope * (S - 1.5e9) + 1.5e9
    found = fitted(R).answer(Clocks(1.5e9, 1.5e9, 1.49e9))
    assert isinstance(found, Answer) == accepted
    if not accepted:
        assert found.codes == ("slope",)


def test_estimates_that_are_apart():
    """A simulator that is right but for an offset of 1e9: ratio and difference part with the distance."""
    calibrated = fitted(S + 1e9)
    assert isinstance(calibrated.answer(Clocks(2.5e9, 1.5e9, 1.45e9)), Answer)
    found = calibrated.answer(Clocks(2.5e9, 1.5e9, 1.2e9))
    assert found.codes == ("apart",) and 0 < found.low < found.high


def test_leave_one_out_by_hand():
    """The largest error of lines through all points but one, by numpy's own weighted fit."""
    R = S * (1 + 0.01 * np.random.default_rng(5).standard_normal(N))
    errors = []
    for i in range(N):
        keep = np.arange(N) != i
        b, a = np.polyfit(S[keep], R[keep], 1, w=1 / R[keep])
        errors.append(abs((a + b * S[i]) / R[i] - 1))
    assert fitted(R).error == pytest.approx(max(errors), rel=1e-6)
    b, a = np.polyfit(S, R, 1, w=1 / R)
    assert line(S, R) == pytest.approx((a, b), rel=1e-6)


def test_copies_of_a_layout_are_left_out_together():
    R = S * (1 + 0.01 * np.random.default_rng(5).standard_normal(N))
    once, twice = known_samples(R), known_samples(np.append(R, R[7]))
    copied = Samples(
        twice.layouts, *(np.append(getattr(once, name), getattr(once, name)[7]) for name in "HMCR")
    )
    of_all = dict(zip(copied.layouts, np.append(S, S[7]), strict=True))
    weighted = np.polyfit(np.append(S, S[7]), np.append(R, R[7]), 1, w=1 / np.append(R, R[7]))
    found = Calibrated.fit(copied, of_all)
    assert found.slope == pytest.approx(weighted[0], rel=1e-6)
    keep = np.arange(N) != 7
    b, a = np.polyfit(S[keep], R[keep], 1, w=1 / R[keep])
    assert found.error >= abs((a + b * S[7]) / R[7] - 1) * (1 - 1e-6)


# name: (clocks, code)
REFUSED = {
    "no R_0": (Clocks(None, 1.5e9, 1.4e9), "r0-absent"),
    "R_0 is 0": (Clocks(0.0, 1.5e9, 1.4e9), "r0-zero"),
    "no S_0": (Clocks(1.5e9, None, 1.4e9), "s0-absent"),
    "S_0 is NaN": (Clocks(1.5e9, math.nan, 1.4e9), "s0-not-finite"),
    "no S'": (Clocks(1.5e9, 1.5e9, None), "s-absent"),
    "S' is negative": (Clocks(1.5e9, 1.5e9, -1.0), "s-negative"),
    "S' is infinite": (Clocks(1.5e9, 1.5e9, math.inf), "s-not-finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    clocks, code = REFUSED[case]
    found = fitted(S).answer(clocks)
    assert isinstance(found, Refused) and found.codes == (code,)


def without(clocks, name):
    return {layout: value for layout, value in clocks.items() if layout != name}


def test_samples_that_cannot_answer():
    known = known_samples(S)
    clocks = dict(zip(known.layouts, S, strict=True))
    cases = {
        "few-layouts": (known.subset(range(11)), dict(list(clocks.items())[:11])),
        "layouts-differ": (known, without(clocks, "growing-3")),
        "equal-s": (known, dict.fromkeys(clocks, 1e9)),
        "s-not-finite": (known, clocks | {"growing-3": math.nan}),
        "s-absent": (known, clocks | {"growing-3": None}),
        "s-zero": (known, clocks | {"growing-3": 0.0}),
        "r-negative": (known_samples(np.where(np.arange(N) == 3, -S, S)), clocks),
    }
    for code, (samples, simulated) in cases.items():
        with pytest.raises(CannotFit) as error:
            Calibrated.fit(samples, simulated)
        assert error.value.code == code
    with pytest.raises(CannotFit, match="extra") as error:
        Calibrated.fit(known, clocks | {"extra": 1e9})
    assert error.value.code == "layouts-differ"
    assert Calibrated.fit(known.subset(range(12)), dict(list(clocks.items())[:12])).error < 1e-9


@settings(max_examples=80)
@given(
    numbers=st.lists(
        st.one_of(st.floats(), st.sampled_from([0.0, 1.5e9, 1.4e9, 1e-300, -1.0, None])),
        min_size=3,
        max_size=3,
    )
)
def test_never_a_bare_negative_or_infinite_runtime(numbers):
    found = FITTED.answer(Clocks(*numbers))
    if isinstance(found, Refused):
        assert found.reasons and all(reason.code and reason.text for reason in found.reasons)
    else:
        assert 0 < found.low <= found.centre <= found.high < math.inf


FITTED = fitted(S)
