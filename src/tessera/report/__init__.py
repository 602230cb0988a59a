"""Report: from tables to what people read. Claims, figures, pages, notebooks, the zip for a deposit.

- `claims`: each finding of the papers, evaluated, with the verdict that its provenance allows;
  `evaluators`: how their values are obtained; `machines`: findings by measured machine
- `figures`: one function per figure; `pages`, `site`: the HTML report; `explore`, `notebooks`: what
  notebooks call
- `package`, `provenance`: what is deposited, and where its numbers come from

Imports lab and what is below. Start with `claims.evaluate`, then `site`.
"""
