"""Report: from tables to what people read.

- `claims`: each finding of the papers and its verdict; `evaluators`: how its value is obtained
- `machines`: the same claims on what real machines counted
- `figures`: one function per figure; `pages`: the HTML report
- `explore`: what the notebooks call; `package`: what is packed for a deposit

Imports lab and what is below. Start with `claims.evaluate`, then `site`.
"""
