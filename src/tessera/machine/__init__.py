"""Machine: this computer. Containers, limits, reserved huge pages, its condition, its counters.

- `container`: every `docker run`, images, the toolchain; `limits`: memory, disk and cores that may be used
- `reserve`, `environment`: settings that are changed for a while and restored
- `doctor`: what can be done here
- `counters`, `perf`, `counter_check`: events of processors, readers of perf's logs, whether they count right

Imports core. The doctor and `reserve` run with plain Python, before anything is installed.
Start with `container`.
"""
