"""Ways to judge a model: which layouts it is fitted to and which it is tested on.

Bottom up: `setting` (what a protocol yields) < one file per protocol < `registry` < `run` (the table
`protocols.csv`), and beside them `learning` (`learning_curve.csv`); `files` writes both.
"""

from tessera.fit.models.protocols.files import write_empty, write_judgement
from tessera.fit.models.protocols.learning import learning_curve
from tessera.fit.models.protocols.registry import PROTOCOLS
from tessera.fit.models.protocols.run import run_protocols

__all__ = ["PROTOCOLS", "learning_curve", "run_protocols", "write_empty", "write_judgement"]
