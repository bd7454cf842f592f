"""What runs by itself: a schedule that takes in each snapshot when it has closed, and a sensor that carries it on."""

from collections.abc import Iterator

import dagster as dg

from dataassets.defs.partitions import SNAPSHOT, SOURCE
from dataassets.recipe.snapshots import Cadence
from dataassets.runner import Corpus

INTAKE = ("raw", "cleaned", "signals", "filtered", "signatures")  # one run for each source: same partition all along

_CRON: dict[Cadence, str] = {"daily": "0 3 * * *", "weekly": "0 3 * * 0", "monthly": "0 3 1 * *"}


def automation(
    corpus: Corpus,
) -> tuple[list[dg.ScheduleDefinition], list[dg.AutomationConditionSensorDefinition]]:
    """The schedule and the sensor; both are off until switched on in the UI.

    The schedule materializes raw to signatures of the snapshot that closed last, one run a source. The sensor follows
    with duplicates, deduped, tokenized and the mixes once all that they need is there.

    Args:
        corpus: of the recipe.
    """
    intake = dg.define_asset_job("intake", selection=dg.AssetSelection.assets(*INTAKE))

    @dg.schedule(
        name="closed_snapshot",
        job=intake,
        cron_schedule=_CRON[corpus.located.recipe.snapshots.cadence],
        execution_timezone="UTC",
        description="Takes in the snapshot that closed last, one run for each source.",
    )
    def closed_snapshot(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        closed = Corpus(corpus.located, context.scheduled_execution_time.date()).closed
        if not closed:
            yield dg.SkipReason("no snapshot has closed yet")
            return
        for source in corpus.sources:
            key = dg.MultiPartitionKey({SNAPSHOT: closed[-1], SOURCE: source})
            yield dg.RunRequest(run_key=str(key), partition_key=key)

    sensor = dg.AutomationConditionSensorDefinition("carry_on", target=dg.AssetSelection.all())
    return [closed_snapshot], [sensor]
