"""What ``./run measure`` says before its first counted run: findings that the planned bundle can decide."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]

_WAYS = {
    "decides": "can decide, with all of their pairs",
    "refutes": "can only refute, with a part of their pairs",
    "confirms": "can only confirm, with a part of their pairs",
}
_CAUSES = {
    "class": "are about other classes of processors",
    "workloads": "need more workloads, or further classes beside this one",
    "layouts": "need more layouts (models need the 54 of --layouts full)",
    "numbers": "have all their pairs, but need numbers that the runs may not give",
    "other": "need more than counters",
}


def foretell(request, say: Say) -> Callable:
    """The callback of :func:`tessera.measure.counted.campaign.measure`; ``say`` gets each line."""

    def told(planned, wider) -> None:
        from tessera.pipeline.foretold import decided, foretold

        found = foretold(planned)
        name = planned.about.class_name
        for way, words in _WAYS.items():
            if ids := [one.claim.id for one in found if one.way == way]:
                say(f"findings that these runs on a {name} {words}: {', '.join(ids)}")
        for cause, words in _CAUSES.items():
            if count := sum(not one.way and one.cause == cause for one in found):
                say(f"findings that they can't decide: {count} {words}")
        if decided(found):
            say("a finding stays undecided if a workload is not sensitive to its pages, or if a layout fails")
        else:
            say(f"these runs decide no finding; {_hint(planned, wider, request, found)}")
        for reason in _bars(planned):
            say(f"the bundle decides no finding as long as this holds: {reason}")

    return told


def _hint(planned, wider, request, found) -> str:
    """What would make them decide one."""
    from tessera.pipeline.foretold import smallest_minutes, workloads_that_help

    if all(one.cause in ("class", "other") for one in found):
        return "no option helps: bundle judge compares them in claims_elsewhere.csv"
    if request.minutes and wider:
        minutes = smallest_minutes(planned, wider, request.minutes)
        if minutes is not None:
            return f"--minutes {minutes} would"
    if names := workloads_that_help(planned, found):
        return f"with these workloads, too, they would: --workloads {','.join([*planned.workloads, *names])}"
    if request.layouts != "full":
        return "--layouts full has the layouts that models need"
    return "config/claims.yaml has the workloads and classes of each finding"


def _bars(planned) -> list[str]:
    """Reasons that are known before the runs."""
    from tessera.bundles.checks.conditions import bars
    from tessera.bundles.protocol import protocols

    rules = protocols()
    own = [] if planned.about.protocol in rules else ["rounds or region are not those of a protocol"]
    return own + bars(planned)
