"""``python -m tessera``: the command line."""

from tessera.cli.main import main

main()
