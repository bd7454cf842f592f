"""`python -m dataassets.cli`, the same as `dataassets`."""

from dataassets.cli import main

main()
