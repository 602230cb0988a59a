"""Faults injected into every writer (:mod:`tests.injection.driver`)."""
