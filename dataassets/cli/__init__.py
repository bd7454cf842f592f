"""`dataassets …`: the road from the command line."""

import sys

import click

from dataassets.cli.commands import build, explain, gc, plan, ui, verify
from dataassets.cli.demo.command import demo
from dataassets.compute import ComputeError
from dataassets.runner import UpstreamError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dataassets")
def cli() -> None:
    """From raw crawl to GPU batch: documents to clean, filtered, deduplicated, tokenized, mixed shards.

    Start with `dataassets demo`. For your own data write a recipe (see README), then `dataassets build recipe.yaml`.
    """


for _command in (demo, build, ui, plan, verify, explain, gc):
    cli.add_command(_command)


def main() -> None:
    """Run the command line; what a user gave wrong ends as one message and exit status 2."""
    try:
        cli()
    except (ValueError, UpstreamError, ComputeError) as error:
        click.secho(f"error: {error}", fg="red", err=True)
        sys.exit(2)
