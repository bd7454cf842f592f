"""`dataassets …`: the road from the command line."""

import errno
from typing import IO, Any

import click

from dataassets.cli.building import InterruptedBuildError
from dataassets.cli.commands import build, explain, gc, plan, show, ui, verify
from dataassets.cli.demo.command import demo
from dataassets.cli.tune import tune
from dataassets.cli.warming import warm_up
from dataassets.compute import ComputeError


class RefusedError(click.ClickException):
    """What a user gave wrong, or what their machine lacks: one message, exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message to stderr."""
        click.secho(f"error: {self.message}", fg="red", file=file, err=file is None)


class Commands(click.Group):
    """The commands in the order in which they are met; no traceback for what a user did."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of their adding."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own
        """Run a command; whatever refuses a user's input ends as a RefusedError."""
        try:
            return super().invoke(ctx)
        except InterruptedBuildError as stopped:
            click.secho(str(stopped), fg="yellow", err=True)
            ctx.exit(130)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # `… | head`: click ends in silence
            raise RefusedError(f"{error.filename or 'the system'}: {error.strerror or error}") from error
        except (ValueError, ImportError, ComputeError) as error:
            raise RefusedError(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dataassets")
def cli() -> None:
    """From raw crawl to GPU batch: documents to clean, filtered, deduplicated, tokenized, mixed shards.

    Start with `dataassets demo`: it takes a small real corpus all the way and writes a recipe to look at. For your own
    data copy that recipe, change its sources, then `dataassets plan recipe.yaml` and `dataassets build recipe.yaml`.

    Exit status: 0 done, 1 damage found or a promise broken, 2 refused (the message says what to change), 130 stopped
    by Ctrl-C.
    """


for _command in (demo, show, plan, build, ui, tune, verify, explain, gc, warm_up):
    cli.add_command(_command)


def main() -> None:
    """Run the command line."""
    cli(prog_name="dataassets")
