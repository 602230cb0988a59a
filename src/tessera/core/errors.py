"""The one exception that users see.

Every failure that a user can cause or mend is raised as :class:`TesseraError`, which names what was
asked, what was found and the next step; the command line prints it without a traceback.
"""

from __future__ import annotations

EXIT_FAILED = 1  #: the work was understood and failed (a cell, a check, a claim)
EXIT_USAGE = 2  #: the request itself is wrong (unknown name, malformed file, missing tool)


class TesseraError(Exception):
    """A failure with a remedy.

    Args:
        asked: what the user wanted, with the owner of the rule ("layout big.csv line 3: pageSize 8192").
        found: what is there instead, and the rule it breaks ("page sizes are 4096, 2097152, 1073741824").
        remedy: the next step, a command where there is one.
        exit_code: process exit status (default :data:`EXIT_USAGE`).
        code: names the cause for programs and tests ("layout-overlap"), where the values in the message
            don't tell it from other causes. Not printed.
    """

    def __init__(self, asked: str, found: str, remedy: str, *, exit_code: int = EXIT_USAGE, code: str = ""):
        super().__init__(f"{asked}: {found}\n  what to do: {remedy}")
        self.asked = asked
        self.found = found
        self.remedy = remedy
        self.exit_code = exit_code
        self.code = code

    def __reduce__(self):
        """Travels between processes; an exception's own form has the text only."""
        return _restored, (type(self), self.args, self.__dict__)

    @property
    def problem(self) -> str:
        """What was asked and what was found."""
        return f"{self.asked}: {self.found}"

    @property
    def sentence(self) -> str:
        """:attr:`problem` and the remedy in one line: for messages of tables and of skipped parts."""
        return f"{self.problem}; {self.remedy}"

    @property
    def one_line(self) -> str:
        """:attr:`sentence` for the message of a row: texts of programs in it may have several lines."""
        return " ".join(self.sentence.split())


def _restored(kind: type[TesseraError], args: tuple, values: dict) -> TesseraError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(values)
    return error


def unknown_name(kind: str, name: str, valid: list[str] | tuple[str, ...]) -> TesseraError:
    """An unknown ``kind`` (workload, platform, model, ...) with the list of valid names."""
    listed = ", ".join(sorted(valid)) or "none"
    return TesseraError(f"{kind} '{name}'", f"no such {kind}", f"use one of: {listed}")
