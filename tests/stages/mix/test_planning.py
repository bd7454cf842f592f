"""A plan conserves documents and tokens, meets its targets, and depends on nothing but ids, lengths and settings."""

import itertools
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets import hashing
from dataassets.recipe import Mix, RecipeError
from dataassets.stages.mix import Available, plan
from dataassets.stages.mix.planning import shard_cuts


def corpus(sizes, *, longest=50, seed=0):
    """{source: [(id, length)]} with ids that depend on source and row alone."""
    rng = np.random.default_rng(seed)
    return {
        source: [
            (hashing.document_id(source, "f", i), int(n)) for i, n in enumerate(rng.integers(1, longest + 1, size))
        ]
        for source, size in sizes.items()
    }


def parts_of(docs, *, cut):
    """Parts of `cut` documents each."""
    found = []
    for source, rows in docs.items():
        for start in range(0, len(rows), cut):
            some = rows[start : start + cut]
            ids = np.frombuffer(b"".join(i for i, _ in some), np.uint8).reshape(-1, 16)
            found.append(Available(source, ids, np.array([n for _, n in some], np.int32)))
    return found


def laid_out(made, parts):
    """[(split, [(id, copy)])] of each shard, in final order."""
    rows = []
    for i, part in enumerate(parts):
        picks = made.picks(i)
        ids = np.asarray(part.ids)[picks.ordinal]
        rows += [
            (int(s), int(o), bytes(d), int(c))
            for s, o, d, c in zip(picks.shard, picks.order, ids, picks.copy, strict=True)
        ]
    rows.sort()
    return [(shard.split, [(d, c) for s, _, d, c in rows if s == k]) for k, shard in enumerate(made.shards)]


mixes = st.builds(
    lambda tokens, a, epochs, val, most, seed: Mix(
        tokens=tokens,
        weights={"a": a, "b": 1 - a},
        max_epochs=epochs,
        val_fraction=val,
        tokens_per_shard=most,
        seed=seed,
    ),
    tokens=st.integers(100, 12_000),
    a=st.floats(0.1, 0.9),
    epochs=st.just(100),
    val=st.sampled_from([0, 0.02, 0.3]),
    most=st.integers(10, 5000),
    seed=st.integers(0, 3),
)
DOCS = corpus({"a": 60, "b": 150, "unused": 20})


@settings(max_examples=60, deadline=None)
@given(mixes)
def test_what_the_plan_says_is_what_the_picks_hold(mix):
    parts = parts_of(DOCS, cut=40)
    made = plan(parts, settings=mix)
    length = {i: n for rows in DOCS.values() for i, n in rows}
    shards = laid_out(made, parts)
    assert [(split, sum(length[d] for d, _ in rows), len(rows)) for split, rows in shards] == [
        (s.split, s.tokens, s.documents) for s in made.shards
    ]
    for told in made.sources:
        own = {i for i, _ in DOCS[told.source]}
        for split, tokens, documents in (
            ("train", told.train, told.train_documents),
            ("val", told.val, told.val_documents),
        ):
            picked = [d for kind, rows in shards if kind == split for d, _ in rows if d in own]
            assert (sum(length[d] for d in picked), len(picked)) == (tokens, documents)
        assert told.achieved == told.train + told.val
        assert told.available == sum(n for _, n in DOCS[told.source])
        assert told.epochs == told.train / told.available_train
    assert not {i for i, _ in DOCS["unused"]} & {d for _, rows in shards for d, _ in rows}


@settings(max_examples=60, deadline=None)
@given(mixes)
def test_each_train_document_is_read_floor_or_ceil_of_the_epochs_and_each_copy_once(mix):
    parts = parts_of(DOCS, cut=40)
    made = plan(parts, settings=mix)
    shards = laid_out(made, parts)
    train = Counter(d for split, rows in shards if split == "train" for d, _ in rows)
    copies = Counter(pick for split, rows in shards if split == "train" for pick in rows)
    assert set(copies.values()) <= {1}
    val = Counter(d for split, rows in shards if split == "val" for d, _ in rows)
    assert set(val.values()) <= {1}
    assert not set(train) & set(val)
    for told in made.sources:
        side = hashing.keyed_order([i for i, _ in DOCS[told.source]], salt="val") / 2**64 < mix.val_fraction
        for (i, _), is_val in zip(DOCS[told.source], side, strict=True):
            low = int(told.epochs + 1e-9)
            assert train[i] in ((0,) if is_val else (low, low + 1))
            assert is_val or not val[i]


@settings(max_examples=60, deadline=None)
@given(mixes)
def test_targets_are_met_to_half_a_document(mix):
    made = plan(parts_of(DOCS, cut=40), settings=mix)
    for told in made.sources:
        target = mix.tokens * mix.weights[told.source]
        assert abs(told.asked - target) <= 0.5
        assert abs(told.train - max(target - told.val, 0)) <= told.longest / 2
        val_side = [
            n for i, n in DOCS[told.source] if hashing.keyed_order([i], salt="val")[0] / 2**64 < mix.val_fraction
        ]
        short = target * mix.val_fraction - told.val
        assert abs(short) <= told.longest / 2 or (short > 0 and told.val == sum(val_side))


@settings(max_examples=30, deadline=None)
@given(mixes, st.integers(1, 200))
def test_shards_do_not_depend_on_the_cut_into_parts(mix, cut):
    whole, pieces = parts_of(DOCS, cut=10**6), parts_of(DOCS, cut=cut)
    assert laid_out(plan(whole, settings=mix), whole) == laid_out(plan(pieces, settings=mix), pieces)
    turned = pieces[::-1]
    assert sorted(laid_out(plan(turned, settings=mix), turned)) == sorted(laid_out(plan(whole, settings=mix), whole))


def test_a_document_never_changes_sides_when_data_is_added():
    mix = Mix(tokens=4000, weights={"a": 1.0}, val_fraction=0.3, max_epochs=50)
    more = corpus({"a": 400})
    less = {"a": more["a"][:200]}
    sides = []
    for docs in (less, more):
        parts = parts_of(docs, cut=64)
        shards = laid_out(plan(parts, settings=mix), parts)
        sides.append({d: split for split, rows in shards for d, _ in rows})
    both = set(sides[0]) & set(sides[1])
    assert len(both) > 50
    assert all(sides[0][d] == sides[1][d] for d in both)
    assert set(sides[0].values()) == {"train", "val"}


def test_half_a_percent_where_documents_are_fine_enough():
    docs = corpus({"a": 3000, "b": 3000})
    mix = Mix(tokens=150_000, weights={"a": 0.7, "b": 0.3}, val_fraction=0.01)
    for told in plan(parts_of(docs, cut=500), settings=mix).sources:
        assert abs(told.achieved - told.asked) <= 0.005 * told.asked


def test_the_seed_shuffles_anew_and_never_moves_the_split():
    parts = parts_of(DOCS, cut=40)
    first, second = (
        laid_out(plan(parts, settings=Mix(tokens=4000, weights={"a": 0.4, "b": 0.6}, val_fraction=0.2, seed=s)), parts)
        for s in (1, 2)
    )
    assert first != second
    assert {d for s, rows in first if s == "val" for d, _ in rows} == {
        d for s, rows in second if s == "val" for d, _ in rows
    }


def test_the_shuffle_is_global():
    docs = corpus({"a": 2000, "b": 2000}, longest=3)
    parts = parts_of(docs, cut=500)
    made = plan(parts, settings=Mix(tokens=6000, weights={"a": 0.5, "b": 0.5}, tokens_per_shard=1500, val_fraction=0))
    place = {i: k for rows in docs.values() for k, (i, _) in enumerate(rows)}
    for _, rows in laid_out(made, parts):
        places = np.array([place[d] for d, _ in rows])
        assert abs(places.mean() - 1000) < 5 * 2000 / 12**0.5 / len(places) ** 0.5
        assert abs(np.corrcoef(places, np.arange(len(places)))[0, 1]) < 5 / len(places) ** 0.5


@pytest.mark.parametrize("val_fraction", [0, 0.1])
def test_too_many_epochs_is_refused_with_numbers_that_work(val_fraction):
    parts = parts_of(DOCS, cut=40)
    asked = {"tokens": 50_000, "val_fraction": val_fraction, "max_epochs": 3, "tokens_per_shard": 10**6}
    weights = {"a": 0.3, "b": 0.7}
    with pytest.raises(RecipeError) as caught:
        plan(parts, settings=Mix(weights=weights, **asked))
    text = str(caught.value)
    available = sum(n for i, n in DOCS["a"] if hashing.keyed_order([i], salt="val")[0] / 2**64 >= val_fraction)
    assert "weights.a = 0.3 of tokens = 50,000" in text
    assert f"the source has {available:,}" in text
    fewer = int(re.search(r"tokens = ([\d,]+) or less", text)[1].replace(",", ""))
    smaller = float(re.search(r"weight of ([\d.e-]+) or less", text)[1])
    epochs = float(re.search(r"or max_epochs = ([\d.]+)", text)[1])
    made = plan(parts, settings=Mix(weights=weights, **asked | {"tokens": fewer}))
    assert max(told.epochs for told in made.sources) > 2.9 * (1 - val_fraction)
    big = Mix(weights={"a": smaller, "b": 1 - smaller}, **asked | {"max_epochs": 3})
    with pytest.raises(RecipeError, match=r"weights\.b"):  # a is mended; b wants too much now
        plan(parts, settings=big)
    plan(parts, settings=Mix(weights=weights, **asked | {"max_epochs": max(epochs, 10)}))


def test_a_source_without_tokens_is_named():
    parts = parts_of({"a": DOCS["a"]}, cut=40)
    with pytest.raises(
        RecipeError, match=r"weights\.b = 0\.5, but the source has no tokens to train on \(0 documents\)"
    ):
        plan(parts, settings=Mix(tokens=10, weights={"a": 0.5, "b": 0.5}))


def test_plans_travel_between_processes():
    parts = parts_of(DOCS, cut=40)
    made = plan(parts, settings=Mix(tokens=1000, weights={"a": 0.5, "b": 0.5}))
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert again.shards == made.shards
    assert again.sources == made.sources
    assert laid_out(again, parts) == laid_out(made, parts)


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 100))
def test_shards_are_bounded_few_and_even(lengths, most):
    cuts = shard_cuts(np.array(lengths, np.int64), most=most).tolist()
    assert cuts[0] == 0
    assert cuts[-1] == len(lengths)
    assert cuts == sorted(set(cuts))
    sizes = [sum(lengths[a:b]) for a, b in itertools.pairwise(cuts)]
    assert all(n <= most or b - a == 1 for n, a, b in zip(sizes, cuts, cuts[1:], strict=False))
    greedy, room = 0, 0
    for n in lengths:
        if n > room:
            greedy, room = greedy + 1, most
        room -= n
    assert len(sizes) == greedy
    if sizes and max(lengths) <= most:
        assert max(sizes) <= sum(lengths) / len(sizes) + max(lengths)
