"""``python3 -m tessera.machine.doctor [--json]``: the doctor before anything is installed."""

from __future__ import annotations

import argparse
import sys

from tessera.core.errors import TesseraError
from tessera.core.terminal import escaped_streams
from tessera.machine.doctor.examine import as_json, as_table, doctor_exit_status, examine_machine


def main() -> int:
    """Print the rows; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="./run doctor",
        description="Report what this machine can do and what is missing; change nothing.",
        epilog="Exit status 1 if a row is FAIL. Example: ./run doctor --json",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON: name, status, found and remedy of each row"
    )
    as_text = as_json if parser.parse_args().json else as_table
    rows = examine_machine()
    print(as_text(rows))
    return doctor_exit_status(rows)


if __name__ == "__main__":
    with escaped_streams():
        try:
            sys.exit(main())
        except TesseraError as error:
            print(f"doctor: {error}", file=sys.stderr)
            sys.exit(error.exit_code)
