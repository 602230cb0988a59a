"""An error that a second process raises arrives whole in the process that asked."""

import pickle

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.report.results import NotDrawn


def test_an_error_travels_between_processes():
    sent = TesseraError("write fig2.svg", "no space", "free some", exit_code=EXIT_FAILED, code="x")
    come = pickle.loads(pickle.dumps(sent))
    assert type(come) is TesseraError and str(come) == str(sent) and vars(come) == vars(sent)


def test_so_does_one_of_a_kind_with_an_own_form():
    come = pickle.loads(pickle.dumps(NotDrawn("figure", "no rows", "run it")))
    assert type(come) is NotDrawn and (come.found, come.remedy) == ("no rows", "run it")
