"""Which source answers for a design, and how far it can be trusted (docs/explain/predict.md).

One decision for the command, Python and notebooks. It is pure: the caller fits the sources and counts the
design. Every source is asked, and what each said is kept.

1. A design with keys outside the classes has the timing engine, or nothing.
2. `calibrated`, if its gate lets it answer.
3. Else `bracket`, if every class of the design is one of :data:`OF_BRACKET`.
4. Else `engine`, if P itself is simulated by it.
5. Two sources that contradict each other are no answer: `calibrated` and `bracket` with disjoint intervals,
   or the timing engine outside the bracket.

A runtime here is above zero, finite, and has a source and a level. Nothing else is ever printed or written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tessera.fit.models.base import CannotFit
from tessera.fit.predict.answers import LEAST_LAYOUTS, Answer, Reason, Refused, number_reasons
from tessera.fit.predict.bracket import SOURCE as BRACKET
from tessera.fit.predict.bracket import Bracket, ChangedCounts, ProcessorCounts
from tessera.fit.predict.calibrated import SOURCE as CALIBRATED
from tessera.fit.predict.calibrated import Calibrated, Clocks

ENGINE, NONE = "engine", "none"
SOURCES = (CALIBRATED, BRACKET, ENGINE)
#: level -> what it means
LEVELS = {
    "A": "calibrated, and P is measured",
    "B": "bracket, each class and family is open, and P is measured",
    "C": "calibrated or bracket, but P is not measured, or a class or family is not open",
    "D": "timing engine alone: not checked against a processor",
    NONE: "no answer",
}
#: Classes that the bracket answers for: they keep the clock.
OF_BRACKET = ("control", "reach", "hit-time", "walk-cost")
SLACK = 1.01  #: R, H, M and C of a processor may be counted in different runs
EXIT_NO_ANSWER = 3  #: exit status, if a design has no runtime

WRONG = ("absent", "not-finite", "negative", "zero")
#: code of a quantity -> the quantity, what mends a number that is absent, not finite, negative or zero
QUANTITIES = {
    "r": ("R of P or of the timing engine", "give runtime_cycles above 0 for each layout of P"),
    "h": ("H of P, or H'", "give stlb_hits, 0 or more, in the samples of P and for the design"),
    "m": ("M of P, or M'", "give stlb_misses, 0 or more, in the samples of P and for the design"),
    "c": ("C of P, or C'", "give walk_cycles, 0 or more, in the samples of P and for the design"),
    "r0": ("R_0", "add a run of P under this layout to the samples, or ask about a layout that they have"),
    "h0": ("H_0", "as for R_0: its STLB hits"),
    "c0": ("C_0", "as for R_0: its busy walk cycles"),
    "s0": (
        "S_0",
        "give the simulator's runtime of P under this layout: --clock, or --results of a study that has it",
    ),
    "s": ("S of P, or S'", "give runtime_cycles of the design by the same simulator as the clock S"),
    "walkers": (
        "walkers of the design",
        "state how many page walkers the design has: --walkers N, or --platform",
    ),
    "miss-cycles": (
        "extra look-up cycles of misses",
        "state the extra look-up cycles of misses as a finite number: --miss-cycles N",
    ),
    "hit-cycles": ("hit time of P's STLB", "state the hit time of P's STLB: --hit-cycles N, or --platform"),
}
#: code of a refusal -> why, and what mends it
REFUSALS = {
    "few-layouts": (
        f"fewer than {LEAST_LAYOUTS} layouts of P differ in H, M or C",
        f"run P under at least {LEAST_LAYOUTS} different mosaics: tessera layouts generate --help",
    ),
    "equal-c": (
        "fewer than 4 values of C, or one C in the 4KB and the 2MB run",
        "add layouts of P whose walks cost more or less, and its 4KB and 2MB runs",
    ),
    "no-cubic": (
        "a cubic cannot be fitted to the samples",
        "check the samples of P: the cubics cannot be fitted",
    ),
    "no-walks": (
        "C' is 0",
        "no formula can tell: run the program with translation free, or simulate with time",
    ),
    "far": (
        "C' is more than 4 times the largest C of P",
        "simulate with time; or measure P with more walk cycles (smaller pages, more memory)",
    ),
    "wide": ("the half-width is more than 10%", "add layouts of P, above all some with C near the design's"),
    "not-finite": ("an end of the interval is not finite", "check the units: plain counts and cycles"),
    "not-positive": (
        "the interval reaches down to 0",
        "check the units of counts and samples: plain counts and cycles",
    ),
    "walkers-fraction": ("the number of walkers is not whole", "give a whole number of walkers"),
    "walkers-differ": (
        "the design has another number of walkers than P, and its class is not `invisible`",
        "state --design-class invisible; or --hit-cycles, not --platform, for another P",
    ),
    "units": (
        "a walk would take less than a cycle, or the walkers would be busy for longer than P runs",
        "check the units of counts and samples, and the number of walkers: plain counts and cycles",
    ),
    "changed": (
        "the class is `control`, and the interval does not contain R_0",
        "state the class of what the design changes: --design-class CLASS (docs/explain/transfer.md, "
        "Classes)",
    ),
    "error": (
        "gate: R = a + b S is wrong by more than 2% on a layout of P",
        "the simulator does not follow P over page sizes: mend its platform file, or use a bracket",
    ),
    "slope": (
        "gate: b is outside 0.67 to 1.5",
        "the simulator's walks cost much more or less than P's: mend its platform file",
    ),
    "apart": (
        "gate: the three estimates differ by more than 2%",
        "the change is too large for this calibration: use a simulator closer to P",
    ),
    "equal-s": ("S has fewer than 3 values", "simulate layouts of P that differ"),
    "layout-unknown": (
        "P has no run under the layout asked about",
        "ask about a layout of P, or add a run of P under this one to the samples",
    ),
    "counts-differ": (
        "the simulator's own H and C of P would already look like a change",
        "give samples of the same window, or counts of the same part of the program: --counts",
    ),
    "layouts-differ": (
        "the clock and the samples are of different layouts",
        "run and simulate P under the same layouts, with the same names",
    ),
    "unclassed": (
        "a changed key is in no class of the study",
        "only a clock tells: ask with --design and a study of a simulated P (--results)",
    ),
    "class": (
        "the class is `invisible` or `behind-l3`",
        "give clocks of P and of the design (--clock, runtime_cycles), or simulate with time (--design)",
    ),
    "class-absent": (
        "the class of counts is not stated",
        "state the class: --design-class reach if TLBs hold more, hit-time if hits take another time, "
        "walk-cost if walks do (others: docs/explain/transfer.md, Classes)",
    ),
    "no-samples": (
        "there are no samples of P",
        "give P: --results FOLDER with --workload and --platform, or --samples FILE",
    ),
    "no-clock": (
        "no simulator other than the origin of R has a clock of P",
        "give a simulator's clock of P: --clock FILE, or --results beside --samples",
    ),
    "no-engine": (
        "the timing engine did not run the design, or P is not simulated",
        "ask with --design about a simulated P: --results FOLDER",
    ),
    "disjoint": (
        "`calibrated` and `bracket` answer with disjoint intervals",
        "do not choose: check the counts and the clock; one of the two is wrong here",
    ),
    "engine-outside": (
        "R of the timing engine is outside the bracket",
        "do not choose: the design changes something that H, M and C do not show",
    ),
    "hits-unstated": (
        "nothing states what H counts",
        "state it: --hits-are latency, if H is hits x their cycles / P's hit time",
    ),
    "hits-accesses": (
        "H counts accesses",
        "multiply the hits of each structure by its hit time, divide the sum by P's hit time, and state "
        "--hits-are latency; if every hit takes P's hit time, the two are equal",
    ),
    "walk-cycles-unstated": (
        "nothing states what C counts",
        "state it: --walk-cycles-are busy, if C has the cycles of all walks",
    ),
    "walk-cycles-waited": (
        "C lacks walks that no access waits for",
        "count the cycles of all walks, also those that no access waits for (C + B), and state "
        "--walk-cycles-are busy; without background walks the two are equal",
    ),
}
REMEDIES: dict[str, str] = {
    f"{quantity}-{wrong}": text for quantity, (_, text) in QUANTITIES.items() for wrong in WRONG
} | {code: remedy for code, (_, remedy) in REFUSALS.items()}  # fmt: skip
#: code of a remark beside an answer -> its text
REMARKS = {
    "simulated": "level C, because P is simulated",
    "provenance": "level C, because the samples do not say whether R was measured",
    "not-open": "level C, because a class or family is not open",
    "no-difference": "the interval contains R_0",
    "unchecked": "level D: not checked against a processor",
}


@dataclass(frozen=True)
class Question:
    """A design, and all that is known of it.

    Args:
        groups: classes that it falls in (docs/explain/transfer.md).
        unknown: ``key=value`` of its changes that belong to no class.
        base: P under the layout asked about; None if P has no such run.
        asked: H' (by latency), busy C' and walkers of the design; None if nobody counted them.
        clocks: R_0, S_0 and S', for `calibrated`.
        engine: R of the timing engine in cycles, of a P that the same engine simulated.
        simulated: R of P comes from a simulator.
        measured: R of P was counted on a processor. Both are False if the samples do not say.
        open: class -> (is it open for the bracket, the reason, which names it), of a study of transfer.
        layout: layout or mapping asked about.
    """

    design: str
    groups: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    base: ProcessorCounts | None = None
    asked: ChangedCounts | None = None
    clocks: Clocks | None = None
    engine: float | None = None
    simulated: bool = False
    measured: bool = False
    open: Mapping[str, tuple[bool, str]] = field(default_factory=dict)
    layout: str = ""

    def __post_init__(self):
        if self.simulated and self.measured:
            raise ValueError(f"{self.design}: P is both simulated and measured")


@dataclass(frozen=True)
class Decision:
    """What may be said of a design.

    Args:
        answer: cycles; None if no source answers. The engine's ends are its centre: it has no interval.
        reasons: remarks on an answer (:data:`REMARKS`), or why there is none (:data:`REMEDIES`).
        others: what each source said, also the one that answers.
    """

    question: Question
    answer: Answer | None
    source: str
    level: str
    reasons: tuple[Reason, ...]
    others: Mapping[str, Answer | Refused]

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(reason.code for reason in self.reasons)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What would give an answer, each once; () if there is one."""
        if self.answer is not None:
            return ()
        return tuple(dict.fromkeys(REMEDIES[code] for code in self.codes))

    @property
    def has_interval(self) -> bool:
        return self.answer is not None and self.source != ENGINE

    @property
    def base_runtime(self) -> float | None:
        """R_0 in cycles; None if it is not known."""
        return _usable(None if self.question.base is None else self.question.base.runtime)

    def share(self, cycles: float) -> float | None:
        """How far a runtime is from R_0, as a share of R_0 (negative: faster); None without R_0."""
        found = math.nan if self.base_runtime is None else cycles / self.base_runtime - 1
        return found if math.isfinite(found) else None

    def sentence(self, *, with_layout: bool = False) -> str:
        """One line: change against P with its interval, cycles, source, level."""
        name, answer = self.question.design, self.answer
        if with_layout and self.question.layout:
            name = f"{name} under {self.question.layout}"
        if answer is None:
            return f"{name}: no answer, source {NONE}"
        parts = [_change(self, answer), f"{cycles_text(answer.centre)} cycles"]
        parts += [f"source {self.source}", f"level {self.level}"]
        return f"{name}: " + ", ".join(filter(None, parts))

    def lines(self) -> list[str]:
        """What follows the sentence: reasons, what the other sources said, what would help."""
        told = [
            reason for said in self.others.values() if isinstance(said, Refused) for reason in said.reasons
        ]
        found = [reason.text for reason in self.reasons if self.answer is not None or reason not in told]
        for source, said in self.others.items():
            if self.answer is None or source != self.source:
                found.append(_said(self, source, said))
        return found + [f"what would help: {text}" for text in self.remedies]

    def as_dict(self) -> dict:
        """For JSON: no value in it is NaN, and no runtime is zero or negative."""
        answer = self.answer
        ends = answer if self.has_interval else None
        return {
            "design": self.question.design,
            "layout": self.question.layout,
            "classes": list(self.question.groups),
            "source": self.source,
            "level": self.level,
            "meaning": LEVELS[self.level],
            "runtime_cycles": None if answer is None else answer.centre,
            "low_cycles": None if ends is None else ends.low,
            "high_cycles": None if ends is None else ends.high,
            "base_runtime_cycles": self.base_runtime,
            "change": None if answer is None else self.share(answer.centre),
            "low_change": None if ends is None else self.share(ends.low),
            "high_change": None if ends is None else self.share(ends.high),
            "reasons": [reason._asdict() for reason in self.reasons],
            "would_help": list(self.remedies),
            "sources": {name: _as_dict(said) for name, said in self.others.items()},
        }


def decide_question(
    question: Question,
    bracket: Bracket | CannotFit | None,
    calibrated: Calibrated | CannotFit | None,
) -> Decision:
    """The answer for a design, or none with its reasons.

    Args:
        bracket: fitted to P; CannotFit says why not; None if there are no samples of P.
        calibrated: the same; None if no other simulator has a clock of P.
    """
    said = {
        CALIBRATED: _of_calibrated(question, calibrated),
        BRACKET: _of_bracket(question, bracket),
        ENGINE: _of_engine(question),
    }
    found = {source: one for source, one in said.items() if isinstance(one, Answer)}
    against = _contradiction(found) or _changed(question, found)
    if against is not None:
        return Decision(question, None, NONE, NONE, (against,), said)
    source = next((source for source in SOURCES if source in found), None)
    if source is None:
        refused = (one for one in said.values() if isinstance(one, Refused))
        return Decision(question, None, NONE, NONE, _unique(refused), said)
    level, remarks = _level(question, source)
    if not found[source].differs and _base(question).runtime is not None:
        remarks.append(
            Reason("no-difference", "the interval contains R of P: no difference from P can be told")
        )
    return Decision(question, found[source], source, level, tuple(remarks), said)


def refused_question(question: Question, reasons: Iterable[Reason]) -> Decision:
    """No answer, because of the question itself: no source was asked."""
    return Decision(question, None, NONE, NONE, tuple(reasons), {})


def cycles_text(value: float) -> str:
    """A number of cycles above zero in three digits or more, such as 1.31e9."""
    return f"{value:.4g}" if value < 9999.5 else re.sub(r"e\+0*", "e", f"{value:.2e}")


def _of_calibrated(question: Question, source: Calibrated | CannotFit | None) -> Answer | Refused:
    if question.unknown or not question.groups:
        return Refused(CALIBRATED, (_no_class(question),))
    if source is None:
        text = "no simulator but the one that R of P comes from" if question.simulated else "no simulator"
        return Refused(CALIBRATED, (Reason("no-clock", f"{text} gives a runtime of P and of the design"),))
    if isinstance(source, CannotFit):
        return Refused(CALIBRATED, (Reason(source.code, source.found),))
    return source.answer(question.clocks or Clocks(_base(question).runtime, None, None))


def _of_bracket(question: Question, source: Bracket | CannotFit | None) -> Answer | Refused:
    if question.unknown or not question.groups:
        return Refused(BRACKET, (_no_class(question),))
    outside = [group for group in question.groups if group not in OF_BRACKET]
    if outside:
        text = f"the bracket answers for {', '.join(OF_BRACKET)}; the design is in {', '.join(outside)}"
        return Refused(BRACKET, (Reason("class", text),))
    if source is None:
        return Refused(BRACKET, (Reason("no-samples", "there are no samples of P"),))
    if isinstance(source, CannotFit):
        return Refused(BRACKET, (Reason(source.code, source.found),))
    wrong = _too_busy(_base(question), question.asked)
    if wrong:
        return Refused(BRACKET, (wrong,))
    return source.answer(_base(question), question.asked or ChangedCounts(None, None))


def _of_engine(question: Question) -> Answer | Refused:
    if question.engine is None:
        text = "the timing engine did not run the design"
        if not question.simulated:
            text = "P is not simulated, so the runtime of a simulator is not one of P"
        return Refused(ENGINE, (Reason("no-engine", text),))
    wrong = number_reasons("r", "R of the timing engine", question.engine, above=True)
    if wrong:
        return Refused(ENGINE, tuple(wrong))
    R, base = float(question.engine), _usable(_base(question).runtime)
    return Answer(ENGINE, R, R, R, math.nan if base is None else base, {ENGINE: R})


def _no_class(question: Question) -> Reason:
    if question.unknown:
        return Reason("unclassed", f"in no class of the study of transfer: {', '.join(question.unknown)}")
    return Reason("class-absent", "the class of the design is not stated")


def _contradiction(found: Mapping[str, Answer]) -> Reason | None:
    bracket, calibrated, engine = (found.get(source) for source in (BRACKET, CALIBRATED, ENGINE))
    if bracket and calibrated and (bracket.low > calibrated.high or calibrated.low > bracket.high):
        text = f"`calibrated` says {_ends(calibrated)}, and `bracket` {_ends(bracket)}"
        return Reason("disjoint", text)
    if bracket and engine and not bracket.low <= engine.centre <= bracket.high:
        said = cycles_text(engine.centre)
        text = f"the timing engine says {said} cycles, outside the bracket: {_ends(bracket)}"
        return Reason("engine-outside", text)
    return None


def _changed(question: Question, found: Mapping[str, Answer]) -> Reason | None:
    """Why a design that is said to change nothing does change something."""
    for source in (CALIBRATED, BRACKET):
        if question.groups == ("control",) and source in found and found[source].differs:
            text = f"class control changes nothing, and R of P is outside what `{source}` says"
            return Reason("changed", text)
    return None


def _too_busy(base: ProcessorCounts, asked: ChangedCounts | None) -> Reason | None:
    """Why C_0 and R_0 contradict each other: no walker is busy for longer than the run."""
    C, R, walkers = base.walk_cycles, _usable(base.runtime), None if asked is None else asked.walkers
    if C is None or R is None or walkers is None or not C > SLACK * R * walkers > 0:
        return None
    text = f"P has {C:.4g} walk cycles in a run of {cycles_text(R)} cycles, too many for {walkers} walkers"
    return Reason("units", text)


def _level(question: Question, source: str) -> tuple[str, list[Reason]]:
    """The level of an answer, and why it is not higher."""
    if source == ENGINE:
        return "D", [Reason("unchecked", "not checked against a processor")]
    if not question.measured:
        if question.simulated:
            return "C", [Reason("simulated", "not above level C: P is simulated")]
        return "C", [Reason("provenance", "not above level C: the samples do not say that R was measured")]
    if source == CALIBRATED:
        return "A", []
    closed = []
    for group in question.groups:
        unread = (False, f"class {group}: no study of transfer says that it is open (--results)")
        is_open, why = question.open.get(group, unread)
        closed += [] if is_open else [why]
    if closed:
        return "C", [Reason("not-open", f"not above level C: {'; '.join(closed)}")]
    return "B", []


def _base(question: Question) -> ProcessorCounts:
    return question.base or ProcessorCounts(None, None, None)


def _usable(runtime: float | None) -> float | None:
    """R_0 if it can be printed."""
    return runtime if runtime is not None and math.isfinite(runtime) and runtime > 0 else None


def _unique(said: Iterable[Refused]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reason for one in said for reason in one.reasons))


def _change(decision: Decision, answer: Answer) -> str:
    centre, low, high = map(decision.share, (answer.centre, answer.low, answer.high))
    if centre is None or low is None or high is None:
        return _ends(answer) if answer.high > answer.low else ""
    ends = f" ({_percent(low)} to {_percent(high)})" if answer.high > answer.low else ""
    return f"{_percent(centre)} of P{ends}"


def _percent(share: float) -> str:
    return f"{round(share, 3) + 0.0:+.1%}"  # no -0.0%


def _said(decision: Decision, source: str, said: Answer | Refused) -> str:
    """A source beside the one that answers."""
    if isinstance(said, Answer):
        change = _change(decision, said)
        return f"{source}: {f'{change}, ' if change else ''}{cycles_text(said.centre)} cycles"
    text = f"{source}: no answer: " + "; ".join(reason.text for reason in said.reasons)
    if _bounds(said):
        text += f" (it would say {_ends(said)})"
    return text


def _bounds(said: Refused) -> bool:
    """Whether the ends of a refusal can be printed."""
    return math.isfinite(said.low) and math.isfinite(said.high) and 0 < said.low <= said.high


def _ends(said: Answer | Refused) -> str:
    return f"{cycles_text(said.low)} to {cycles_text(said.high)} cycles"


def _as_dict(said: Answer | Refused) -> dict:
    if isinstance(said, Answer):
        ends = {"low_cycles": said.low, "high_cycles": said.high} if said.source != ENGINE else {}
        return {"runtime_cycles": said.centre} | ends
    ends = {"low_cycles": said.low, "high_cycles": said.high} if _bounds(said) else {}
    return {"runtime_cycles": None, "reasons": [reason._asdict() for reason in said.reasons]} | ends
