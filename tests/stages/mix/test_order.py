"""The numpy keyed order is hashing's, bit for bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dataassets import hashing
from dataassets.stages.mix.order import argsorted, id_words, keyed_order


@given(st.lists(st.binary(min_size=16, max_size=16), max_size=20), st.text(max_size=20))
def test_the_keyed_order_of_many_is_that_of_each(ids, salt):
    flat = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, 16)
    assert keyed_order(id_words(flat), salt=salt).tolist() == hashing.keyed_order(ids, salt=salt).tolist()


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=20))
def test_ids_may_come_as_bytes_void_or_uint8(ids):
    flat = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, 16)
    for other in (np.array(ids, "S16"), flat.view("V16").reshape(-1), flat.view("S16").reshape(-1), flat[:, ::1]):
        assert (id_words(other) == id_words(flat)).all()


@given(st.lists(st.integers(0, 5)))
def test_equal_keys_keep_their_order(keys):
    assert argsorted(np.array(keys, np.uint64)).tolist() == sorted(range(len(keys)), key=lambda i: keys[i])
