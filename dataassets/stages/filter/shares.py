"""Where the shares end that rules keep of a partition: found once from all its signals, before its parts are judged."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.rule import Rule, Ruling
from dataassets.stages.filter.standing import Cut

Ends = Mapping[str, Sequence[Cut | None]]  # by rule: where the shares end that it keeps
Cuts = Mapping[int, Ends]  # of each of `languages.every(settings)`, by its number


def ranked(settings: Filter) -> list[str]:
    """The columns of signals that `cuts` wants of a whole partition; mostly none.

    Args:
        settings: which rules judge.

    >>> from dataassets.recipe import Quality
    >>> ranked(Filter(quality=Quality(min_score=0.5))), ranked(Filter(quality=Quality(keep_fraction=0.1)))
    ([], ['id', 'language', 'quality_score'])
    """
    every = languages.every(settings)
    found = [column for own in every for rule in rules.ranked(own).values() for column in rule.ranked(own)]
    return list(dict.fromkeys(["id", "language", *found])) if found else []


def cuts(signals: pa.Table, *, settings: Filter) -> Cuts:
    """Where the shares of a partition end that rules keep: of each language with settings of its own, and of the rest.

    Args:
        signals: the columns of `ranked(settings)`, of all documents of the partition.
        settings: which rules judge.
    """
    found = {}
    for part in languages.parts(signals.column("language"), settings=settings):
        own, table = rules.ranked(part.settings), languages.taken(signals, part)
        found[_number(part.settings, settings)] = {
            name: rule.cuts(table, settings=part.settings) for name, rule in own.items()
        }
    return found


def ends_of(own: Filter, *, settings: Filter, cuts: Cuts | None) -> Ends:
    """The cuts that hold for documents of one kind.

    Args:
        own: their settings, one of `languages.every(settings)`.
        settings: of the stage.
        cuts: of the partition.
    """
    return (cuts or {}).get(_number(own, settings), {})


def tests_of(name: str, rule: Rule, signals: pa.Table, *, settings: Filter, ends: Ends) -> Iterator[Ruling]:
    """The tests of a rule, with the cuts of the partition where it keeps a share of it.

    Args:
        name: of the rule.
        rule: itself.
        signals: of documents of one kind.
        settings: theirs.
        ends: of their shares.
    """
    share = rules.ranked(settings).get(name)
    if share is None:
        return rule.tests(signals, settings=settings)
    assert name in ends, "a share is a share of the partition"
    return share.tests(signals, settings=settings, cuts=ends[name])


def _number(own: Filter, settings: Filter) -> int:
    return next(i for i, chosen in enumerate(languages.every(settings)) if chosen is own)
