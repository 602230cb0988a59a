"""Proof of the allocator: test programs, cases, benchmarks. Nothing that a user of mosalloc needs."""
