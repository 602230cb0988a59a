"""The bracket: planted truths, the base, refusals at N and N - 1, a slow oracle of its piecewise lines."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples
from tessera.fit.predict import bracket
from tessera.fit.predict.answers import Answer, Refused, finite_answer
from tessera.fit.predict.bracket import (
    KNOTS,
    RIDGE,
    STEEPEST,
    Bracket,
    ChangedCounts,
    PiecewiseLine,
    ProcessorCounts,
    StraightEnds,
    fit_lines,
)

from .builders import make_samples

TOP = 1e9  #: busy cycles of the 4KB run
HITS = 5e6


def samples(truth, n=19, top=TOP) -> Samples:
    """n layouts from ``top`` busy cycles (4KB pages) down to 2% of it (2MB pages), with R = truth(C)."""
    C = np.linspace(1, 0.02, n) * top
    C[[8, n - 1]] = C[[n - 1, 8]]  # growing-8 is the ninth name of the builder
    return make_samples(truth(C), np.full(n, HITS), C / 30, C)


def line(slope=0.6, start=2e9):
    return lambda C: start + slope * np.asarray(C)


def asked(truth, C0, C, top=TOP, n=19, **design):
    """The answer for C under the layout with C0, H unchanged."""
    bracket = Bracket.fit(samples(truth, n, top), hit_cycles=7)
    return bracket.answer(ProcessorCounts(float(truth(C0)), HITS, C0), ChangedCounts(HITS, C, **design))


# family: (slopes at C = 0 and at the top, bend as a share of the top, top) -> truth; slopes are in [0, 1]
FAMILIES = {
    "line": lambda a, b, bend, top: lambda C: a * C,
    "convex": lambda a, b, bend, top: parabola(min(a, b), max(a, b), top),
    "concave": lambda a, b, bend, top: parabola(max(a, b), min(a, b), top),
    "convex hinge": lambda a, b, bend, top: hinge(min(a, b), max(a, b), bend * top),
    "concave hinge": lambda a, b, bend, top: hinge(max(a, b), min(a, b), bend * top),
}


def hinge(first, second, bend):
    return lambda C: first * C + (second - first) * np.maximum(C - bend, 0)


def parabola(first, second, top):
    """Slope ``first`` at 0 and ``second`` from the top on."""
    return lambda C: first * C + (second - first) * np.where(top > C, C * C / (2 * top), C - top / 2)


def planted(family, seed):
    """(truth, C_0, C', bracket, its base): C' is up to 3 times the top, and R is never below C or C'."""
    rng = np.random.default_rng(seed)
    top = 10 ** rng.uniform(5, 11)
    rises = FAMILIES[family](*rng.uniform(0, 1, 2), rng.uniform(0.25, 0.75), top)
    start = rng.uniform(3, 8) * top

    def truth(C):
        return start + rises(np.asarray(C, dtype=float))

    known = samples(truth, int(rng.choice([12, 19, 54])), top)
    before = float(rng.choice(known.C))
    after = float(rng.uniform(0.02, 1) * top if rng.random() < 0.5 else rng.uniform(1, 3) * top)
    return truth, before, after, Bracket.fit(known, hit_cycles=7)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_planted_truth_is_inside(family):
    """A hinge between knots may be outside by g: a member is wrong by up to g at the base and at C'."""
    answered = 0
    for seed in range(60):
        truth, before, after, bracket = planted(family, seed)
        R = float(truth(after))
        found = bracket.answer(
            ProcessorCounts(float(truth(before)), HITS, before), ChangedCounts(HITS, after)
        )
        if isinstance(found, Refused):
            assert found.codes == ("wide",)
            continue
        answered += 1
        beside = bracket.widening * R if "hinge" in family else 1e-9 * R
        assert found.low - beside <= R <= found.high + beside, (seed, found)
    assert answered >= 30


@pytest.mark.parametrize("share", KNOTS)
@pytest.mark.parametrize("slopes", [(0.2, 0.9), (0.9, 0.2)], ids=["convex", "concave"])
def test_a_hinge_at_a_knot_is_inside(share, slopes):
    bend = float(np.quantile(np.linspace(1, 0.02, 19), share)) * TOP

    def truth(C):
        return 4e9 + hinge(*slopes, bend)(np.asarray(C, dtype=float))

    for C in np.linspace(0.05, 1, 20) * TOP:
        found = asked(truth, 0.8 * TOP, C)
        assert found.low <= truth(C) <= found.high


@pytest.mark.parametrize("walkers", [1, 2, 4])
def test_walkers_that_are_never_idle(walkers):
    """R = C / walkers, the least that is possible: no end is below it."""

    def truth(C):
        return np.asarray(C, dtype=float) / walkers

    for C in np.linspace(0.1, 1, 10) * TOP:
        found = asked(truth, 0.5 * TOP, C, walkers=walkers)
        if isinstance(found, Answer):
            assert found.low * (1 - 1e-9) <= truth(C) <= found.high
            assert found.low >= truth(C)
    assert isinstance(asked(truth, 0.5 * TOP, 0.49 * TOP, walkers=walkers), Answer)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), family=st.sampled_from(sorted(FAMILIES)))
def test_no_change_is_the_base(seed, family):
    truth, before, _, bracket = planted(family, seed)
    R = float(truth(before)) * 1.01  # the base need not be on a curve
    found = bracket.answer(ProcessorCounts(R, HITS, before), ChangedCounts(HITS, before))
    assert found.centre == pytest.approx(R, rel=1e-9)
    assert found.base == R and not found.differs
    assert found.half_width == pytest.approx(bracket.widening, rel=1e-9)
    assert set(found.estimates) == {"cubic", "minimax", "free", "convex"}


def test_continuous_at_the_base():
    """A cycle more or less is neither another centre nor another interval."""
    truth = line()
    for step in (-1.0, 1.0):
        found = asked(truth, 0.5 * TOP, 0.5 * TOP + step)
        assert found.centre == pytest.approx(float(truth(0.5 * TOP)), abs=2)
        assert found.half_width == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("family", ["line", "convex", "concave"])
def test_the_interval_widens_with_the_distance(family):
    """In cycles, upwards from a base; a refusal has its ends, too."""
    for seed in range(8):
        truth, before, _, bracket = planted(family, seed)
        base = ProcessorCounts(float(truth(before)), HITS, before)
        found = [
            bracket.answer(base, ChangedCounts(HITS, C))
            for C in np.linspace(before, 3.9 * bracket.largest, 30)
        ]
        widths = [one.high - one.low for one in found]
        assert np.all(np.diff(widths) >= -1e-9 * widths[0])
        assert widths[-1] > widths[0]


def test_noise_widens():
    noise = np.random.default_rng(3).standard_normal(19)
    widenings = []
    for share in (0.0, 0.01, 0.02, 0.04):
        known = samples(line())
        noisy = Samples(known.layouts, known.H, known.M, known.C, known.R * (1 + share * noise))
        widenings.append(Bracket.fit(noisy, hit_cycles=7).widening)
    assert widenings[0] == 0.01
    assert np.all(np.diff(widenings) > 0) and widenings[-1] > 0.02


def test_the_best_member_widens():
    """A sharp hinge: piecewise lines with a knot there fit, cubics do not."""
    bend = float(np.quantile(np.linspace(1, 0.02, 19), 0.5)) * TOP
    known = samples(lambda C: 2e9 + hinge(0.0, 1.0, bend)(np.asarray(C)))
    bracket = Bracket.fit(known, hit_cycles=7)
    errors = {name: np.abs(f(known.C) / known.R - 1).max() for name, f in bracket.members.items()}
    assert errors["cubic"] > 0.02 and errors["convex"] < 0.01
    assert bracket.widening == 0.01


def test_the_tangent_at_the_base():
    """Of the free piecewise line, and never steeper than 1."""
    bracket = Bracket.fit(samples(line(0.6)), hit_cycles=7)
    assert bracket.tangent(0.5 * TOP) == pytest.approx(0.6, rel=1e-3)
    assert bracket.tangent(0.0) == pytest.approx(0.6, rel=1e-3)
    assert Bracket.fit(samples(line(1.2)), hit_cycles=7).tangent(0.5 * TOP) == 1.0


def test_what_is_frozen():
    """Chosen before the run that judges them: another value needs another name."""
    assert (STEEPEST, KNOTS, RIDGE) == (1.25, (0.25, 0.5, 0.75), 1e-3)
    assert (bracket.TANGENT, bracket.LEAST_WIDENING) == (0.02, 0.01)
    assert (bracket.WIDEST, bracket.FARTHEST) == (0.1, 4.0)


def test_look_ups_move_one_end():
    """7 cycles for each more hit, and the given cycles of the misses; centre as it was where C' <= C_0."""
    bracket, base = Bracket.fit(samples(line()), hit_cycles=7), ProcessorCounts(2.3e9, HITS, 0.5 * TOP)
    plain = bracket.answer(base, ChangedCounts(HITS, 0.5 * TOP))
    dearer = bracket.answer(base, ChangedCounts(HITS + 1e6, 0.5 * TOP))
    assert (dearer.low, dearer.centre) == (plain.low, plain.centre)
    assert dearer.high == pytest.approx(plain.high + 7e6, rel=1e-12)
    cheaper = bracket.answer(base, ChangedCounts(HITS - 1e6, 0.5 * TOP))
    assert cheaper.low == pytest.approx(plain.low - 7e6, rel=1e-12) and cheaper.high == plain.high
    misses = bracket.answer(base, ChangedCounts(HITS, 0.5 * TOP, miss_cycles=7e6))
    assert misses == dearer
    both = bracket.answer(base, ChangedCounts(HITS + 1e6, 0.5 * TOP, miss_cycles=-7e6))
    assert both == plain


def test_by_hand():
    """R = 2e9 + 0.5 C, from C_0 = 4e8 to 6e8: members and pages say +1e8, slope 1 says +2e8."""
    found = asked(line(0.5), 4e8, 6e8)
    assert found.estimates["slope 1"] == 2.4e9
    for name in ("cubic", "minimax", "tangent", "page sizes"):
        assert found.estimates[name] == pytest.approx(2.3e9, rel=1e-6), name
    assert found.centre == pytest.approx(2.35e9, rel=1e-4)
    assert found.low == pytest.approx(2.3e9 - 0.01 * 2.35e9, rel=1e-4)
    assert found.high == pytest.approx(2.4e9 + 0.01 * 2.35e9, rel=1e-4)
    assert found.differs
    assert not asked(line(0.5), 4e8, 3.9e8).differs


# name: (base, design, code)
GOOD_BASE, GOOD = ProcessorCounts(2.3e9, HITS, 5e8), ChangedCounts(HITS, 4e8)
REFUSED = {
    "no R_0": (ProcessorCounts(None, HITS, 5e8), GOOD, "r0-absent"),
    "R_0 is 0": (ProcessorCounts(0.0, HITS, 5e8), GOOD, "r0-zero"),
    "R_0 is negative": (ProcessorCounts(-1.0, HITS, 5e8), GOOD, "r0-negative"),
    "R_0 is NaN": (ProcessorCounts(math.nan, HITS, 5e8), GOOD, "r0-not-finite"),
    "no H_0": (ProcessorCounts(2.3e9, None, 5e8), GOOD, "h0-absent"),
    "no C_0": (ProcessorCounts(2.3e9, HITS, None), GOOD, "c0-absent"),
    "C_0 is negative": (ProcessorCounts(2.3e9, HITS, -5e8), GOOD, "c0-negative"),
    "no H": (GOOD_BASE, ChangedCounts(None, 4e8), "h-absent"),
    "H is NaN": (GOOD_BASE, ChangedCounts(math.nan, 4e8), "h-not-finite"),
    "H is negative": (GOOD_BASE, ChangedCounts(-1.0, 4e8), "h-negative"),
    "no C": (GOOD_BASE, ChangedCounts(HITS, None), "c-absent"),
    "C is NaN": (GOOD_BASE, ChangedCounts(HITS, math.nan), "c-not-finite"),
    "C is infinite": (GOOD_BASE, ChangedCounts(HITS, math.inf), "c-not-finite"),
    "C is negative": (GOOD_BASE, ChangedCounts(HITS, -1.0), "c-negative"),
    "C is 0": (GOOD_BASE, ChangedCounts(HITS, 0.0), "no-walks"),
    "C is far": (GOOD_BASE, ChangedCounts(HITS, 4.01 * TOP), "far"),
    "no walkers": (GOOD_BASE, ChangedCounts(HITS, 4e8, walkers=0), "walkers-zero"),
    "walkers unknown": (GOOD_BASE, ChangedCounts(HITS, 4e8, walkers=None), "walkers-absent"),
    "half a walker": (GOOD_BASE, ChangedCounts(HITS, 4e8, walkers=1.5), "walkers-fraction"),
    "look-ups are NaN": (GOOD_BASE, ChangedCounts(HITS, 4e8, miss_cycles=math.nan), "miss-cycles-not-finite"),
    "wide": (GOOD_BASE, ChangedCounts(HITS, 4e8, miss_cycles=1e9), "wide"),
    "down to the floor": (GOOD_BASE, ChangedCounts(HITS, 1e7, miss_cycles=-1e10, walkers=10**12), "wide"),
    "beyond doubles": (
        ProcessorCounts(1.7e308, HITS, 5e8),
        ChangedCounts(HITS, 6e8, miss_cycles=1.7e308),
        "not-finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    base, design, code = REFUSED[case]
    found = Bracket.fit(samples(line()), hit_cycles=7).answer(base, design)
    assert isinstance(found, Refused) and found.codes == (code,)
    assert found.reasons[0].text in str(found)


# name: (centre, low, high, code)
UNSAID = {
    "zero": (1.0, 0.0, 1.05, "not-positive"),
    "negative": (-1.0, -1.05, -0.95, "not-positive"),
    "not a number": (1.0, math.nan, 1.05, "not-finite"),
    "infinite": (1.0, 0.95, math.inf, "not-finite"),
    "wide": (1.0, 0.89, 1.1, "wide"),
}


@pytest.mark.parametrize("case", UNSAID)
def test_what_no_source_may_say(case):
    *ends, code = UNSAID[case]
    found = finite_answer(Answer("bracket", *ends, 1.0, {}), 0.1)
    assert isinstance(found, Refused) and found.codes == (code,)


def test_all_that_is_wrong_is_said():
    found = Bracket.fit(samples(line()), hit_cycles=7).answer(
        ProcessorCounts(None, -1.0, 5e8), ChangedCounts(math.nan, 4e8)
    )
    assert found.codes == ("r0-absent", "h0-negative", "h-not-finite")


def test_the_farthest_and_the_widest_answer():
    """At the limit there is an answer, just beyond there is none."""
    truth = line(1.0, start=1e10)
    assert isinstance(asked(truth, TOP, 4 * TOP), Answer)
    assert asked(truth, TOP, 4.0001 * TOP).codes == ("far",)
    base = float(line()(0.5 * TOP))
    for share, code in ((0.1799, None), (0.1801, "wide")):  # a half-width of 1% and half of this share
        found = asked(line(), 0.5 * TOP, 0.5 * TOP, miss_cycles=share * base)
        assert (found.codes if code else found.half_width <= 0.1) == ((code,) if code else True)
        assert found.high == pytest.approx(base * (1.01 + share), rel=1e-9)


def changed(**columns) -> Samples:
    known = samples(line())
    return Samples(known.layouts, *(columns.get(name, getattr(known, name)) for name in "HMCR"))


def with_one(symbol, value):
    values = getattr(samples(line()), symbol).copy()
    values[3] = value
    return changed(**{symbol: values})


# name: (samples, code)
UNFIT = {
    "11 layouts": (samples(line(), 11), "few-layouts"),
    "11 layouts of which one twice": (samples(line(), 11).subset([*range(11), 10]), "few-layouts"),
    "one C": (changed(C=np.full(19, 1e8), M=np.arange(19.0)), "equal-c"),
    "three C": (changed(C=np.arange(19) % 3 * 1e8 + 1e8, M=np.arange(19.0)), "equal-c"),
    "one C in both anchors": (changed(C=np.where(np.arange(19) == 8, TOP, samples(line()).C)), "equal-c"),
    "C within rounding": (changed(C=1e9 + np.arange(19) * 2e-7, M=np.arange(19.0)), "no-cubic"),
    "C is NaN": (with_one("C", math.nan), "c-not-finite"),
    "H is NaN": (with_one("H", math.nan), "h-not-finite"),
    "M is negative": (with_one("M", -1.0), "m-negative"),
    "R is 0": (with_one("R", 0.0), "r-zero"),
    "R is infinite": (with_one("R", math.inf), "r-not-finite"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_samples_that_cannot_answer(case):
    known, code = UNFIT[case]
    with pytest.raises(CannotFit) as error:
        Bracket.fit(known, hit_cycles=7)
    assert error.value.code == code


def test_twelve_layouts_are_enough():
    assert Bracket.fit(samples(line(), 12), hit_cycles=7).widening == 0.01


def test_the_hit_time_is_asked_for():
    for value, code in ((None, "absent"), (-7, "negative"), (math.nan, "not-finite")):
        with pytest.raises(CannotFit) as error:
            Bracket.fit(samples(line()), hit_cycles=value)
        assert error.value.code == f"hit-cycles-{code}"


def test_the_page_sizes_are_asked_for():
    with pytest.raises(TesseraError, match="growing-8"):
        Bracket.fit(samples(line()).subset([i for i in range(19) if i != 8]), hit_cycles=7)


def test_the_order_of_the_samples_changes_no_bit():
    known = samples(FAMILIES["convex"](0.2, 0.9, 0.5, TOP))
    known = Samples(known.layouts, known.H, known.M, known.C, known.R + 2e9)
    shuffled = known.subset(np.random.default_rng(1).permutation(19))
    answers = [
        Bracket.fit(s, hit_cycles=7).answer(GOOD_BASE, ChangedCounts(HITS, 7e8)) for s in (known, shuffled)
    ]
    assert answers[0] == answers[1]


@settings(max_examples=60)
@given(
    numbers=st.lists(
        st.one_of(st.floats(), st.sampled_from([0.0, 1.0, 4e8, 1e9, 3e9, -1.0, None])), min_size=6, max_size=6
    ),
    walkers=st.sampled_from([0, 1, 2, 1000]),
)
def test_never_a_bare_negative_or_infinite_runtime(numbers, walkers):
    R, H0, C0, H, C, misses = numbers
    found = FITTED.answer(ProcessorCounts(R, H0, C0), ChangedCounts(H, C, walkers, misses))
    if isinstance(found, Refused):
        assert found.reasons and all(reason.code and reason.text for reason in found.reasons)
    else:
        assert 0 < found.low <= found.centre <= found.high < math.inf
        assert found.half_width <= 0.1


FITTED = Bracket.fit(samples(line()), hit_cycles=7)


# ---- members


def test_cubics_go_straight_on():
    """Inside the samples the polynomial, outside its tangent: clipped to 0 below and to 1.25 above."""
    C = np.linspace(1, 2, 20) * 1e6
    x = C / 1e6
    cubic = create("poly3").fit(make_samples(1e7 * (3 + (x - 1.2) ** 3 + (x - 1.2) ** 2), 0 * C, 0 * C, C))
    ends = StraightEnds(cubic, 1e6, 2e6)
    np.testing.assert_allclose(ends(C), cubic.predict(0, 0, C), rtol=1e-12)
    below, above = ends(np.array([0.5e6, 3e6]))
    slope = 10 * (3 * (1 - 1.2) ** 2 + 2 * (1 - 1.2))
    assert slope < 0 and below == pytest.approx(float(cubic.predict(0, 0, 1e6)), rel=1e-9)
    assert above == pytest.approx(float(cubic.predict(0, 0, 2e6)) + STEEPEST * 1e6, rel=1e-9)


def test_a_piecewise_line_by_hand():
    curve = PiecewiseLine(10.0, np.array([2.0, 5.0]), np.array([1.0, 0.0, 3.0]))
    np.testing.assert_array_equal(curve([0.0, 1.0, 2.0, 4.0, 5.0, 7.0]), [10, 11, 12, 12, 12, 18])


def loss(C, R, knots, intercept, slopes):
    """The objective of `fit_lines`, written out: relative errors and the ridge, in largest C and mean R."""
    top, mean = max(C), sum(R) / len(R)
    steepest = STEEPEST * top / mean
    start = min(max(np.polyfit(np.array(C) / top, np.array(R) / mean, 1)[0], 0), steepest)
    total = 0.0
    for c, r in zip(C, R, strict=True):
        value, previous = intercept, 0.0
        for k, slope in enumerate(slopes):
            end = knots[k] if k < len(knots) else math.inf
            value += slope * max(0.0, min(c, end) - previous)
            previous = end
        total += (value / r - 1) ** 2
    ridge = sum((slope * top / mean - start) ** 2 for slope in slopes)
    return total / len(C) + RIDGE * ridge / len(slopes)


def best_of_all_faces(C, R, knots, convex):
    """The least loss over every choice of constraints that hold with equality: each is one linear system."""
    top, mean = C.max(), R.mean()
    k = len(knots) + 1
    edges = [0.0, *knots, math.inf]
    columns = [np.maximum(np.minimum(C, edges[j + 1]) - edges[j], 0) / top for j in range(k)]
    steepest = STEEPEST * top / mean
    start = np.clip(np.polyfit(C / top, R / mean, 1)[0], 0, steepest)
    relative = np.column_stack([np.ones(len(C)), *columns]) * (mean / R)[:, None]
    ridge = np.hstack([np.zeros((k, 1)), np.eye(k)]) * math.sqrt(RIDGE / k)
    A = np.vstack([relative / math.sqrt(len(C)), ridge])
    b = np.append(np.ones(len(C)) / math.sqrt(len(C)), np.full(k, start * math.sqrt(RIDGE / k)))
    unit = np.eye(k + 1)
    rules = [(unit[0], 0.0)]
    for j in range(1, k + 1):
        rules.append((unit[j] - unit[j - 1] if convex and j > 1 else unit[j], 0.0))
        rules.append((-unit[j], -steepest))
    least = math.inf
    for size in range(k + 2):
        for tight in combinations(rules, size):
            E = np.array([row for row, _ in tight]).reshape(size, k + 1)
            e = np.array([value for _, value in tight])
            system = np.block([[A.T @ A, E.T], [E, np.zeros((size, size))]])
            x = np.linalg.lstsq(system, np.append(A.T @ b, e), rcond=None)[0][: k + 1]
            if all(row @ x >= value - 1e-9 for row, value in rules):
                least = min(least, float(np.sum((A @ x - b) ** 2)))
    return least


@pytest.mark.parametrize("convex", [False, True], ids=["free", "convex"])
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6))
def test_no_bounded_piecewise_line_is_better(convex, seed):
    """Steep, falling and noisy data: most bounds hold with equality somewhere."""
    rng = np.random.default_rng(seed)
    C = np.sort(rng.random(20)) * 10 ** rng.uniform(4, 11)
    R = C.max() * (rng.uniform(0.05, 3) + np.cumsum(rng.uniform(-0.5, 2.5, 20)) * rng.uniform(0, 0.1))
    R = np.maximum(R, 0.02 * C.max())
    found = fit_lines(C, R, convex=convex)
    assert found.intercept >= 0 and np.all((found.slopes >= 0) & (found.slopes <= STEEPEST * (1 + 1e-12)))
    if convex:
        assert np.all(np.diff(found.slopes) >= -1e-9)
    mine = loss(list(C), list(R), found.knots, found.intercept, found.slopes)
    assert mine == pytest.approx(best_of_all_faces(C, R, found.knots, convex), rel=1e-7, abs=1e-12)
