"""The graph in flow order: each product an asset, hung on what it is made of. The runner does the work."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from dataassets.defs.metadata import Told, materialize, specs_of
from dataassets.defs.partitions import Partitions
from dataassets.runner import CODE_VERSIONS, Work
from dataassets.store import SHARDED

_MODELS = {
    "quality_model": "A fastText classifier of good and ordinary documents, and what it is worth.",
    "perplexity_model": "A KenLM model of n-grams of words.",
}
_KINDS = dict.fromkeys(SHARDED, "megatron") | {"quality_model": "fasttext", "perplexity_model": "kenlm"}


def graph(partitions: Partitions) -> list[dg.AssetsDefinition]:
    """All assets.

    Args:
        partitions: of the recipe.
    """
    corpus, of_snapshot, of_all = partitions.corpus, partitions.by_snapshot, partitions.all_of
    return [
        _asset("raw", corpus, [], "Documents as they lie in a source's files, bytes untouched."),
        _asset("cleaned", corpus, ["raw"], "Text: charset, main content, NFC, personal data masked."),
        *(_asset(model, None, [partitions.read_by(model)], _MODELS[model]) for model in partitions.models),
        _asset("signals", corpus, ["cleaned", *partitions.models], "Every measured quantity of each cleaned document."),
        _asset("filtered", corpus, ["cleaned", "signals"], "Documents that pass the rules, judged by signals."),
        _asset("signatures", corpus, ["filtered"], "Text hash and MinHash signature of each document."),
        _asset(
            "duplicates",
            partitions.snapshot,
            [of_snapshot("signatures"), of_snapshot("filtered"), *partitions.before("duplicates")],
            "Documents of a snapshot that repeat an earlier kept one, each with its match.",
        ),
        _asset("deduped", corpus, ["filtered", of_snapshot("duplicates")], "Documents, one of each near-copy."),
        _asset("tokenized", corpus, ["deduped"], "Token shards, one sequence a document."),
        _asset(
            "mixed",
            partitions.mix,
            [of_all("tokenized")],
            "Shuffled shards in the mix's proportions, train and val: what training reads.",
        ),
    ]


def _asset(
    product: str,
    partitions_def: dg.PartitionsDefinition[Any] | None,
    deps: Sequence[str | dg.AssetDep],
    description: str,
) -> dg.AssetsDefinition:
    """One product as an asset."""
    follows = product in ("duplicates", "deduped", "tokenized", "mixed")  # raw to signatures: the schedule's run
    # Dagster's eager looks at the latest window only; a snapshot that comes late, or again, is to be carried on too.
    follow = dg.AutomationCondition.eager().without(dg.AutomationCondition.in_latest_time_window())

    @dg.asset(
        name=product,
        partitions_def=partitions_def,
        deps=deps,
        check_specs=specs_of(product, partitions_def),
        code_version=CODE_VERSIONS[product],
        backfill_policy=dg.BackfillPolicy.multi_run(1) if partitions_def else None,
        automation_condition=follow if follows else None,
        description=description,
        kinds={_KINDS.get(product, "parquet")},
    )
    def made(context: dg.AssetExecutionContext, work: dg.ResourceParam[Work]) -> Told:
        yield from materialize(context, work, product)

    return made
