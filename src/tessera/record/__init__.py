"""From a program to a trace: workloads, their inputs, recordings."""
