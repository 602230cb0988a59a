"""The archive of tests/reference: requests for zenodo.org go to a server of the test."""

from tests.reference.conftest import zenodo

__all__ = ["zenodo"]
