"""How this package starts Python.

``python -m MODULE`` puts the current folder in front of the standard library. So a file ``json.py`` that
anybody left in /tmp would be executed by the user who stands there, also by root. ``-P`` (Python 3.11) leaves
the folder out. The variable PYTHONSAFEPATH would reach the programs of users, too, and those may import from
their own folder.
"""

from __future__ import annotations

import os
import sys


def module_command(
    module: str, *arguments: str | os.PathLike[str], python: str = sys.executable
) -> list[str | os.PathLike[str]]:
    """The words that run ``module`` with ``arguments``, without the current folder on its path.

    Args:
        python: another interpreter, such as the one of an image.
    """
    return [python, "-P", "-m", module, *arguments]
