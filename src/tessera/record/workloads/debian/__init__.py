"""Debian's programs that serve as workloads: a module each makes input and checks output."""
