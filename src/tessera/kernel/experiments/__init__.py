"""Experiments of the Mitosis paper that a guest without caches can answer: Tables 4 to 6, Figures 3 and 4."""
