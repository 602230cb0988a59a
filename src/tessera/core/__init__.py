"""Core: what every other wing speaks. Errors, units, files, tables; then the nouns of a study.

- `errors`, `checks`, `units`, `files`, `processes`, `configuration_files`, `downloads`, `archives`,
  `statistics`, `private_texts`
- `table_file`, `table_columns`: tables that a person brings; `tables`, `progress`, `drawing` are for readers
- `layouts` (mosaics of pages), `mapping` (pages to frames), `platforms` (processors), `scenarios` (systems)
- `results`: the tables of a run: paths, columns, readers, writers
- `reference`: the numbers that papers print, and what they archived

Imports nothing else of Tessera. Start with `errors`, then `layouts.layout` and `results.tree`.
"""
