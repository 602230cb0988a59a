"""The results tree: its paths, its tables, who reads and writes them (docs/contracts.md)."""
