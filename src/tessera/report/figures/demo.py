"""The two drawings of `tessera demo`: errors of the models, and what is said of new designs.

The page of the demo embeds them; they are in no report, so they are not under
:func:`tessera.report.figures.figure`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from tessera.fit.predict.bracket import SOURCE as BRACKET
from tessera.fit.predict.decision import cycles_text
from tessera.report.figures import style

if TYPE_CHECKING:  # its import takes what only the demo needs
    from tessera.report.asked_designs import AskedDesign

IMPOSSIBLE = "impossible"  #: a runtime that is not above zero


def cycles(value: float) -> str:
    """A runtime of any sign, such as -2.1e9; empty for none."""
    if math.isnan(value):
        return ""
    return "0" if value == 0 else f"{'-' if value < 0 else ''}{cycles_text(abs(value))}"


def draw_errors(errors: pd.DataFrame, folds: int, title: str, provenance: str):
    """Largest error of each model: on the layouts that it was fitted to, and on held-out ones.

    Args:
        errors: model -> ``fitted`` and ``held_out``, fractions; NaN is not drawn.
    """
    errors = errors.dropna(how="all")
    with style.context():
        figure, axes = style.panels(width=style.WIDTH, height=1.5 + 0.3 * len(errors))
        looks = (
            ("fitted", "o", style.BLUE, "layouts that it was fitted to"),
            ("held_out", "D", style.PAPER, f"held-out layouts, {folds}-fold cross validation"),
        )
        for column, marker, face, words in looks:
            axes.plot(errors[column], range(len(errors)), marker, markerfacecolor=face,
                      markeredgecolor=style.BLUE, markersize=6.5, label=words, linestyle="")  # fmt: skip
        axes.set_xscale("log")
        style.percent_axis(axes.xaxis)
        axes.set_xlabel("largest relative error of R (log scale)")
        axes.set_yticks(range(len(errors)), [style.model_look(name).label for name in errors.index])
        axes.invert_yaxis()
        style.legend_below(figure, [axes], columns=1)
        style.headline(figure, title, provenance)
    return figure


def draw_answers(designs: Sequence[AskedDesign], base: float, title: str, provenance: str):
    """Predictions of the models, interval of the bracket and simulated R, a panel for each design.

    The axis goes to twice the simulated R at most; an arrow at its edge stands for what is beyond it.

    Args:
        base: R without the change, in cycles.
    """
    with style.context():
        figure, axes = style.panels(
            len(designs), 1, width=style.WIDTH, height=0.9 + 2.9 * len(designs), squeeze=False
        )
        for panel, design in zip(axes[:, 0], designs, strict=True):
            _design_panel(panel, design, base)
        style.legend_below(figure, axes[:, 0], columns=1)
        style.headline(figure, title, provenance)
    return figure


def _design_panel(panel, design: AskedDesign, base: float) -> None:
    scale, unit = style.count_unit(design.runtime)
    answer, models = design.decision.answer, list(design.predictions)
    ends = [answer.low, answer.high] if answer else []
    inside = [value for value in design.predictions.values() if 0 < value <= 2 * design.runtime]
    low, high = _limits([*inside, *ends, design.runtime, base])
    if answer:
        panel.axvspan(answer.low / scale, answer.high / scale, color=style.GREEN, alpha=0.18, lw=0,
                      label="interval of the bracket")  # fmt: skip
    panel.axvline(design.runtime / scale, color=style.INK, lw=1.6, label="simulated R of the design")
    panel.axvline(base / scale, color=style.GREY, lw=1.2, ls="--", label="simulated R without the change")
    for row, value in enumerate(design.predictions.values()):
        _draw_prediction(panel, row, value, (low, high), scale)
    if answer:
        panel.plot([answer.centre / scale], [len(models)], "|", color=style.GREEN, markersize=11)
        panel.plot([end / scale for end in ends], [len(models)] * 2, color=style.GREEN, lw=2.4)
    else:
        panel.annotate("no answer", (high / scale, len(models)), xytext=(-4, 0), va="center",
                       ha="right", textcoords="offset points", color=style.INK)  # fmt: skip
    panel.set_xlim(low / scale, high / scale)
    panel.set_yticks(range(len(models) + 1), [*(style.model_look(name).label for name in models), BRACKET])
    panel.set_ylim(len(models) + 0.6, -0.6)
    panel.set_xlabel(f"R (cycles, {unit})")
    panel.set_title(f"{design.name} ({'answered' if answer else 'refused'})")


def _limits(values: list[float]) -> tuple[float, float]:
    margin = 0.08 * (max(values) - min(values)) or 0.08 * max(values)
    return min(values) - margin, max(values) + margin


def _draw_prediction(panel, row: int, value: float, limits: tuple[float, float], scale: float) -> None:
    """A point, or an arrow at the edge with the value beside it; nothing for no number."""
    if math.isnan(value):
        return
    if limits[0] <= value <= limits[1]:
        panel.plot([value / scale], [row], "o", color=style.BLUE, markersize=6)
        return
    left = value < limits[0]
    words = f"{cycles(value)}: {IMPOSSIBLE}" if value <= 0 else cycles(value)
    panel.plot([limits[0 if left else 1] / scale], [row], "<" if left else ">", color=style.VERMILLION,
               markersize=8, clip_on=False)  # fmt: skip
    panel.annotate(words, (limits[0 if left else 1] / scale, row), xytext=(9 if left else -9, 0),
                   textcoords="offset points", va="center", ha="left" if left else "right",
                   color=style.VERMILLION, bbox={"facecolor": style.PAPER, "lw": 0, "pad": 1})  # fmt: skip
