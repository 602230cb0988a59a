"""Kernels that run side by side: none asks for TCP ports, which another one may take first."""

from __future__ import annotations

import nbformat
import pytest

from tessera.core.errors import TesseraError
from tessera.report.notebooks import Notebook, execute_notebook

CONNECTION = """
from ipykernel.connect import get_connection_info
print(get_connection_info(unpack=True)["transport"])
"""


def notebook(folder, code: str) -> Notebook:
    path = folder / "01-one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]), path)
    return Notebook("01-one", "One", path)


def test_a_kernel_waits_for_requests_at_files(tmp_path):
    done = execute_notebook(notebook(tmp_path, CONNECTION), {})
    assert done.cells[-1].outputs[0].text == "ipc\n"


def test_a_cell_that_fails_is_named(tmp_path):
    with pytest.raises(TesseraError, match="cell 1 failed: ZeroDivisionError"):
        execute_notebook(notebook(tmp_path, "1 / 0"), {})
