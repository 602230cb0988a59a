"""The results tree: its paths and tables, and their readers and writers (docs/contracts.md)."""
