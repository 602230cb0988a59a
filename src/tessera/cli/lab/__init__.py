"""Commands of the lab: studies, and groups for the kernel, NUMA, page faults, threads, imitation of Linux.

Start with `study`. Options of commands that start a guest are in `guest`.
"""
