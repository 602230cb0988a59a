"""Tessera: from partial simulations of virtual memory to runtimes that can be trusted."""

__version__ = "0.1.0"
