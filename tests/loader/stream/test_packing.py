"""Laws of packed rows: their tokens are those of the documents, labels and boundaries never look across."""

import itertools
import pickle

import numpy as np
import pytest

from loader import BatchStream, TokenDataset
from loader.pack import BOUNDARIES, IGNORED
from loader.stream import plans

SEQ_LEN = 24


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOADER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def documents_of(mix):
    """Tokens of each document of train, in order."""
    bounds = np.cumsum([0, *(d[-1] for d in mix.documents["train"])])
    return [mix.tokens["train"][a:b].tolist() for a, b in itertools.pairwise(bounds)]


@pytest.mark.parametrize("packing", ["document", "best_fit"])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_rows_are_pieces_of_documents_and_labels_stay_in_them(mix, packing, shift):
    dataset = TokenDataset(mix.path, seq_len=SEQ_LEN, shift=shift, packing=packing, boundaries=BOUNDARIES)
    known = {d[2]: tokens for d, tokens in zip(mix.documents["train"], documents_of(mix), strict=True)}
    left = {name: len(tokens) for name, tokens in known.items()}
    for r in range(len(dataset)):
        row, filled = dataset[r], 0
        for n, piece in enumerate(dataset.documents(r)):
            tokens = known[piece["id"]]
            for t in range(piece["start"], piece["stop"]):
                place = piece["offset"] + t - piece["start"]
                assert row["input_ids"][t] == tokens[place]
                ahead = place + shift
                assert row["labels"][t] == (tokens[ahead] if ahead < len(tokens) else IGNORED)
                assert row["document_ids"][t] == n
                assert row["position_ids"][t] == t - piece["start"]
            left[piece["id"]] -= piece["stop"] - piece["start"]
            filled = piece["stop"]
        assert (row["input_ids"][filled:] == dataset.eot).all()
        assert (row["labels"][filled:] == IGNORED).all()
        assert (row["document_ids"][filled:] == -1).all()
    assert not any(left.values())
    assert dataset.num_padding == len(dataset) * SEQ_LEN - dataset.num_tokens


@pytest.mark.parametrize("shift", [0, 1, 5, SEQ_LEN])
def test_masked_windows_look_across_nowhere(mix, shift):
    plain = TokenDataset(mix.path, seq_len=SEQ_LEN, shift=shift)
    masked = TokenDataset(mix.path, seq_len=SEQ_LEN, shift=shift, mask_labels=True)
    owner = np.repeat(np.arange(len(mix.documents["train"])), [d[-1] for d in mix.documents["train"]])
    for r in range(len(plain)):
        at = r * SEQ_LEN
        same = owner[at : at + SEQ_LEN] == owner[at + shift : at + shift + SEQ_LEN]
        assert masked[r]["labels"].tolist() == np.where(same, plain[r]["labels"], IGNORED).tolist()
        assert masked[r]["input_ids"].tolist() == plain[r]["input_ids"].tolist()


def test_windows_tell_the_documents_that_they_hold(mix):
    dataset = TokenDataset(mix.path, seq_len=SEQ_LEN, boundaries=("document_ids", "position_ids"))
    for r in range(len(dataset)):
        for n, piece in enumerate(dataset.documents(r)):
            span = slice(piece["start"], piece["stop"])
            assert (dataset[r]["document_ids"][span] == n).all()
            assert dataset[r]["position_ids"][span].tolist() == list(range(piece["stop"] - piece["start"]))


def test_a_plan_is_made_once_kept_and_read_again(mix, cache, monkeypatch):
    first = TokenDataset(mix.path, seq_len=SEQ_LEN, packing="best_fit")
    [file] = cache.iterdir()
    monkeypatch.setattr(plans, "best_fit", None)
    again = TokenDataset(mix.path, seq_len=SEQ_LEN, packing="best_fit")
    assert all((first[r]["labels"] == again[r]["labels"]).all() for r in range(len(first)))
    monkeypatch.undo()
    monkeypatch.setenv("LOADER_CACHE", str(cache))
    file.write_bytes(file.read_bytes()[:100])
    damaged = TokenDataset(mix.path, seq_len=SEQ_LEN, packing="best_fit")
    assert len(damaged) == len(first)
    monkeypatch.setenv("LOADER_CACHE", "/proc/no/such/place")
    assert len(TokenDataset(mix.path, seq_len=SEQ_LEN, packing="best_fit")) == len(first)


@pytest.mark.parametrize("packing", ["document", "best_fit"])
def test_packed_batches_resume_and_travel(mix, packing):
    data = pickle.dumps(TokenDataset(mix.path, seq_len=SEQ_LEN, packing=packing, boundaries="cu_seqlens"))
    dataset = pickle.loads(data)  # noqa: S301 - our own
    whole = BatchStream(dataset, batch_size=3, tail="pad_masked")
    batches = list(whole)
    stream = BatchStream(dataset, batch_size=3, tail="pad_masked")
    for _ in itertools.islice(stream, 2):
        pass
    again = BatchStream(dataset, batch_size=3, tail="pad_masked")
    again.load_state_dict(stream.state_dict())
    for expected, found in zip(batches[2:], again, strict=True):
        assert all((expected[name] == found[name]).all() for name in ("input_ids", "labels", "cu_seqlens"))
