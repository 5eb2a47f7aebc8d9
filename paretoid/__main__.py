"""`python -m paretoid` is the `paretoid` command."""

from paretoid.cli import main

main()
