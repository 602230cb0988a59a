"""Execute a notebook headless, with its parameters set."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root
from tessera.show.notebooks.catalogue import Entry

#: A cell must not take longer: notebooks are for reading, simulations belong to the workflow.
CELL_SECONDS = 300
INJECTED = "injected-parameters"


def _sockets_in(folder: str):
    """Kernels listen on sockets in ``folder``: TCP ports that two kernels take at once kill one of them."""
    from traitlets.config import Config

    return Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})


def execute(entry: Entry, parameters: dict[str, str]):
    """The executed notebook (nbformat); ``parameters`` that it does not declare are left out.

    Raises:
        TesseraError: a cell failed; names it and what it said.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    declared = papermill.inspect_notebook(str(entry.path))
    given = {name: value for name, value in parameters.items() if name in declared}
    with tempfile.TemporaryDirectory(prefix="tessera-notebook-") as folder:
        path = Path(folder) / entry.path.name
        try:
            papermill.execute_notebook(
                str(entry.path),
                str(path),
                parameters=given,
                cwd=str(repo_root() / "notebooks"),
                kernel_name="python3",
                progress_bar=False,
                log_output=False,
                execution_timeout=CELL_SECONDS,
                config=_sockets_in(folder),
                coalesce_streams=True,  # a text is one output, in however many parts it arrived
            )
        except PapermillExecutionError as error:
            raise TesseraError(
                f"notebook {entry.name}",
                f"cell {error.exec_count} failed: {error.ename}: {error.evalue}",
                f"open it: ./run notebooks, then {entry.path.name}",
                exit_code=EXIT_FAILED,
            ) from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise TesseraError(
                f"notebook {entry.name}", str(error).splitlines()[0], "./run notebooks", exit_code=EXIT_FAILED
            ) from error
        return nbformat.read(path, as_version=4)
