"""Proof of the allocator: test programs, cases, benchmarks. Nothing that a user of mosalloc needs.

Start with ``suite.proof``: all tables in their order. ``programs`` has well-known programs under mosaics,
``bench`` the costs of calls, ``overhead`` memory and time of whole programs.
"""
