"""The results tree: its paths and tables, and their readers and writers (docs/contracts.md).

- `tree`: every path; start here
- `schema`: what a table is; the `*_tables` files declare them all, `catalogue` lists them
(docs/reference/tables.md)
- `table_io`: reads and writes a table; `loader` has those of one results folder, each read once
- `outcomes`: status of rows, parts and recordings
"""
