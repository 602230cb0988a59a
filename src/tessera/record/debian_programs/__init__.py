"""Debian's programs that serve as workloads: a module each makes its input and checks its output.

A size's ``args`` describe the input: ``--name count`` pairs with defaults, which :func:`input_counts` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tessera.core.errors import TesseraError, unknown_name


def input_counts(
    owner: str, args: Sequence[str], defaults: Mapping[str, int], least: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The options' values; those not given have their default.

    ``least`` has the smallest value of options that have one.

    Raises:
        TesseraError: an unknown or repeated option, or a value that is not a count or is too small; names
            ``owner``.
    """
    found: dict[str, int] = {}
    if len(args) % 2:
        raise TesseraError(
            f"{owner}: {' '.join(args)}", f"the option {args[-1]} has no value", "write --name count"
        )
    for option, value in zip(args[::2], args[1::2], strict=True):
        name = option.removeprefix("--")
        if name not in defaults or name == option:
            raise unknown_name(f"option of {owner}", option, [f"--{known}" for known in defaults])
        if name in found:
            raise TesseraError(f"{owner}: {option}", "this option is given twice", "give it once")
        if not value.isascii() or not value.isdigit():
            raise TesseraError(
                f"{owner}: {option} {value}", "the value must be a count", "write decimal digits only"
            )
        found[name] = int(value)
    chosen = dict(defaults) | found
    for name, smallest in (least or {}).items():
        if chosen[name] < smallest:
            raise TesseraError(
                f"{owner}: --{name} {chosen[name]}", "this is too small", f"give {smallest} or more"
            )
    return chosen
