"""Laws of boundaries: all three tell the same documents as a loop over the tokens does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import SettingError
from loader.pack import BOUNDARIES, Bounds
from loader.pack.bounds import documents_in

ROWS = st.integers(1, 12).flatmap(lambda t: st.lists(st.lists(st.integers(0, 2), min_size=t, max_size=t), min_size=1))


@given(ROWS)
def test_boundaries_are_those_of_a_loop(rows):
    documents = documents_in(np.array(rows), eot=2)
    told = Bounds(BOUNDARIES).of(documents)
    bounds = []
    for b, row in enumerate(rows):
        document = place = 0
        for t, token in enumerate(row):
            if place == 0:
                bounds.append(b * len(row) + t)
            assert told["document_ids"][b, t] == document
            assert told["position_ids"][b, t] == place
            document, place = (document + 1, 0) if token == 2 else (document, place + 1)
    assert told["cu_seqlens"].tolist() == [*bounds, len(rows) * len(rows[0])]
    assert told["cu_seqlens"].dtype == np.int32


def test_only_what_is_asked_for_is_told_in_a_fixed_order():
    documents = np.zeros((2, 3), np.int64)
    assert Bounds(None).of(documents) == {}
    assert list(Bounds(("cu_seqlens", "position_ids")).of(documents)) == ["position_ids", "cu_seqlens"]
    assert list(Bounds("document_ids").of(documents)) == ["document_ids"]


@pytest.mark.parametrize("wrong", ["x", ("position_ids", "y")])
def test_another_name_is_refused(wrong):
    with pytest.raises(SettingError, match="wanted None, one or several of"):
        Bounds(wrong)
