"""`tune`: what other thresholds would keep and drop, by source and reason, with documents that change sides."""

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from dataassets.cli import screen
from dataassets.cli.telling import number, snippet
from dataassets.recipe import Change, Located, RecipeError, changed, load
from dataassets.recipe.changing import inline
from dataassets.recipe.load import read_yaml
from dataassets.runner.trying import Mover, Outcome, Tally, Trial, Tuner
from dataassets.store import split_key

CHARS_PER_TOKEN = 4.45  # where nothing is tokenized: 1,444 English documents, 6.0 M characters, under gpt2
_BAR = 24  # characters
_SET = "A key of a filter and its value in YAML, such as filter.gopher_quality.min_words=80; may be given again."
_UNSET = "A key of a filter to leave out, such as filter.fineweb, which switches that rule off; may be given again."
_SWEEP = "A key and several values, such as filter.gopher_quality.min_words=40,60,80: what each of them would keep."


@click.command(short_help="What other thresholds would keep and drop; writes nothing.")
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help=_SET)
@click.option("--unset", "unsets", multiple=True, metavar="KEY", help=_UNSET)
@click.option("--sweep", metavar="KEY=VALUE,VALUE…", help=_SWEEP)
@click.option(
    "--partition", "partitions", multiple=True, metavar="KEY", help="Only this partition; may be given again."
)
@click.option(
    "--samples", type=click.IntRange(min=0), default=3, show_default=True, help="Documents shown of each change."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def tune(
    recipe: Path,
    sets: tuple[str, ...],
    unsets: tuple[str, ...],
    sweep: str | None,
    partitions: tuple[str, ...],
    samples: int,
    as_json: bool,
) -> None:
    """Try other filter settings on a RECIPE whose signals are there, in seconds, writing nothing.

    \b
    dataassets tune recipe.yaml --set filter.gopher_quality.min_words=80
    dataassets tune recipe.yaml --set sources.web.filter.language.min_score=0.5 --unset filter.fineweb
    dataassets tune recipe.yaml --sweep filter.gopher_quality.min_words=40,60,80

    What a build with that setting would count, exactly: documents kept and dropped, by source and reason. Tokens are
    estimated by characters. No text is read but that of the documents shown. A change of what signals measure (stop
    words, for one) cannot be tried: they have to be measured anew.
    """  # noqa: D301 - \b keeps click from filling the examples up to one paragraph
    if not (sets or unsets or sweep):
        raise click.UsageError("nothing to try; give --set KEY=VALUE, --unset KEY or --sweep KEY=VALUE,VALUE")
    located = load(recipe)
    changes = [*map(Change.of, sets), *(Change(key, is_removed=True) for key in unsets)]
    if sweep:
        key, values = _swept(sweep)
        answer = compared(located, changes, key=key, values=values, partitions=partitions)
        parts = _sweep_tables(answer)
    else:
        answer = tried(located, changes, partitions=partitions, num_samples=samples)
        parts = _tables(answer)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    for part in parts:
        screen.console.print(part)


def _swept(text: str) -> tuple[str, list[object]]:
    key, equals, listed = text.partition("=")
    values = read_yaml(f"[{listed}]", where=text) if key and equals else None
    if not (isinstance(values, list) and values):
        raise RecipeError(f"{text!r}: no KEY=VALUE,VALUE; write such as filter.gopher_quality.min_words=40,60,80")
    return key, values


# ---- answers: plain JSON values


def tried(
    located: Located, changes: Sequence[Change], *, partitions: Sequence[str] = (), num_samples: int = 3
) -> dict[str, Any]:
    """What changes do, made together.

    Args:
        located: the recipe.
        changes: of its filters.
        partitions: keys of those to judge; none means all.
        num_samples: documents shown of each pair of reasons, now and then.

    Returns:
        Plain JSON values: `sources` and their `total`, `reasons`, `samples`, and what was judged.

    Raises:
        RecipeError: a change is wrong, or asks for signals that are not there.
        UpstreamError: there are no signals to judge by.
    """
    made, tuner = changed(located, changes), Tuner(located)
    outcome = tuner.tried([made.located], partitions=partitions, num_samples=num_samples)
    now, then = outcome.now, outcome.then[0]
    ratios = _chars_per_token(tuner, now)
    sources = [_source(name, now, then, ratios[name]) for name in now.tallies]
    reasons = dict.fromkeys([*now.total.dropped, *then.total.dropped])
    rows = [{"reason": r, "now": now.total.dropped[r], "then": then.total.dropped[r]} for r in reasons]
    chosen = list(_chosen(then, num_samples))
    return {
        "changes": [str(change) for change in changes],
        "to_keep": list(dict.fromkeys(made.section(change) for change in changes)),
        "sources": sources,
        "total": {
            name: sum(row[name] for row in sources) for name in sources[0] if name not in ("source", "tokens_by")
        },
        "reasons": sorted(rows, key=lambda r: (-abs(r["then"] - r["now"]), -r["now"], r["reason"])),
        "samples": [_sample(mover, text) for mover, text in zip(chosen, tuner.texts(chosen), strict=True)],
        **_judged(outcome),
    }


def compared(
    located: Located, changes: Sequence[Change], *, key: str, values: Sequence[object], partitions: Sequence[str] = ()
) -> dict[str, Any]:
    """What each value of a key does, on top of changes.

    Args:
        located: the recipe.
        changes: of its filters, made for all.
        key: whose values are tried.
        values: of it.
        partitions: keys of those to judge; none means all.

    Returns:
        Plain JSON values: for each of `values` what is kept, by source.

    Raises:
        RecipeError: a change is wrong, or asks for signals that are not there.
        UpstreamError: there are no signals to judge by.
    """
    tuner = Tuner(located)
    variants = [changed(located, [*changes, Change(key, value)]).located for value in values]
    outcome = tuner.tried(variants, partitions=partitions, num_samples=0)
    ratios = _chars_per_token(tuner, outcome.now)
    told = [("now", outcome.now), *((inline(v), then) for v, then in zip(values, outcome.then, strict=True))]
    return {
        "changes": [str(change) for change in changes],
        "key": key,
        "values": [{"value": label, **_kept(trial, ratios)} for label, trial in told],
        **_judged(outcome),
    }


def _judged(outcome: Outcome) -> dict[str, Any]:
    return {"partitions": outcome.partitions, "left_out": outcome.left_out}


def _chars_per_token(tuner: Tuner, trial: Trial) -> dict[str, float | None]:
    return {source: tuner.characters_per_token(source) for source in trial.tallies}


def _tokens(tally: Tally, chars_per_token: float | None) -> int:
    return round(tally.characters / (chars_per_token or CHARS_PER_TOKEN))


def _source(name: str, now: Trial, then: Trial, chars_per_token: float | None) -> dict[str, Any]:
    return {
        "source": name,
        "documents": now.tallies[name].documents,
        "kept_now": now.tallies[name].kept,
        "kept_then": then.tallies[name].kept,
        "newly_dropped": then.newly_dropped[name],
        "newly_kept": then.newly_kept[name],
        "tokens_now": _tokens(now.tallies[name], chars_per_token),
        "tokens_then": _tokens(then.tallies[name], chars_per_token),
        "tokens_by": "tokenized" if chars_per_token else f"{CHARS_PER_TOKEN} characters a token",
    }


def _kept(trial: Trial, ratios: dict[str, float | None]) -> dict[str, Any]:
    return {
        "documents": trial.total.documents,
        "kept": trial.total.kept,
        "tokens": sum(_tokens(tally, ratios[name]) for name, tally in trial.tallies.items()),
        "sources": {name: {"documents": t.documents, "kept": t.kept} for name, t in trial.tallies.items()},
    }


def _chosen(trial: Trial, most: int) -> Iterator[Mover]:
    """Of each pair of reasons the first documents, one of each source in turn."""
    by_reasons: dict[tuple[str, str], list[list[Mover]]] = {}
    for (_, was, then), movers in trial.movers.items():
        by_reasons.setdefault((was, then), []).append(movers)
    for of_sources in by_reasons.values():
        yield from [mover for turn in zip_longest(*of_sources) for mover in turn if mover][:most]


def _sample(mover: Mover, text: dict[str, Any]) -> dict[str, Any]:
    return {
        "now": mover.was or "kept",
        "then": mover.then or "kept",
        "signal": mover.column,
        "value": mover.value,
        "limit": mover.limit,
        "source": split_key(mover.part.partition)[1],
        "id": text["id"].hex(),
        "url": text["url"],
        "text": snippet(text["text"]),
    }


# ---- tables


def _tables(answer: dict[str, Any]) -> Iterator[Table | Text | str]:
    total, rows = answer["total"], answer["sources"]
    heads = ["source", "documents", "kept now", "kept then", "newly dropped", "newly kept", "tokens now", "tokens then"]
    shown = screen.table(
        f"{', '.join(answer['changes'])}: documents, and about how many tokens, the filter keeps", heads
    )
    for row in [*rows, {"source": "all", **total}] if len(rows) > 1 else rows:
        cells = [f"{row[name]:,}" for name in ("documents",)]
        cells += [f"{row[name]:,} ({_percent(row[name], row['documents'])})" for name in ("kept_now", "kept_then")]
        cells += [f"{row[name]:,}" for name in ("newly_dropped", "newly_kept", "tokens_now", "tokens_then")]
        shown.add_row(row["source"], *cells)
    yield shown
    yield _about_tokens(rows)
    yield _reason_table(answer["reasons"])
    yield from _sample_lines(answer["samples"])
    if not (total["newly_dropped"] or total["newly_kept"]):
        yield "no document changes sides"
    yield from _left_out(answer)
    yield f"to keep it, write in the recipe: {'; '.join(answer['to_keep'])}"


def _reason_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The reasons whose numbers change, and the sum of the others."""
    shown = screen.table("Dropped documents by reason", ["reason", "now", "then", "change"])
    others = [row["now"] for row in rows if row["now"] == row["then"]]
    for row in rows:
        if row["now"] != row["then"]:
            shown.add_row(row["reason"], f"{row['now']:,}", f"{row['then']:,}", f"{row['then'] - row['now']:+,}")
    if others:
        told = f"{sum(others):,}"
        shown.add_row(f"{screen.plural(len(others), 'reason')} as now", told, told, "")
    return shown


def _sweep_tables(answer: dict[str, Any]) -> Iterator[Table | Text | str]:
    names = list(answer["values"][0]["sources"])
    several = names if len(names) > 1 else []
    title = f"{answer['key']}: documents, and about how many tokens, the filter keeps"
    shown = screen.table(title, ["value", "kept", "share", "tokens", *several])
    shown.add_column("", justify="left", no_wrap=True)
    for row in answer["values"]:
        share = row["kept"] / row["documents"] if row["documents"] else 0
        by_source = [_percent(row["sources"][name]["kept"], row["sources"][name]["documents"]) for name in several]
        bar = "█" * round(share * _BAR)
        cells = (f"{row['kept']:,}", f"{share:.1%}", f"{row['tokens']:,}", *by_source)
        shown.add_row(row["value"], *cells, f"{bar:·<{_BAR}}")
    yield shown
    yield from _left_out(answer)


def _sample_lines(samples: Sequence[dict[str, Any]]) -> Iterator[Text | str]:
    heading = None
    for row in samples:
        gone = row["then"] != "kept"
        if heading != (heading := (row["now"], row["then"])):
            told = f"newly dropped by {row['then']}" if gone else f"newly kept, now dropped by {row['now']}"
            yield Text(told, "red" if gone else "green")
        limit = "" if row["limit"] is None else f", limit {number(row['limit'])}"
        yield f'  {row["signal"]} {number(row["value"])}{limit}: "{row["text"]}"'
        yield Text(f"    {row['source']} {row['id']} {row['url'] or ''}".rstrip(), "dim")


def _about_tokens(rows: Sequence[dict[str, Any]]) -> Text:
    by_mean = [row["source"] for row in rows if row["tokens_by"] != "tokenized"]
    told = ["in the ratio of what is tokenized"] if len(by_mean) < len(rows) else []
    told += [f"{CHARS_PER_TOKEN} characters a token for {', '.join(by_mean)}, not tokenized yet"] if by_mean else []
    return Text(f"tokens are estimated by the cleaned text: {'; '.join(told)}", "dim")


def _left_out(answer: dict[str, Any]) -> Iterator[Text]:
    if left := answer["left_out"]:
        shown = ", ".join(left[:3]) + (", …" if len(left) > 3 else "")
        yield Text(
            f"not counted, as their signals are not there or stale: {screen.plural(len(left), 'partition')} ({shown})",
            "yellow",
        )


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
