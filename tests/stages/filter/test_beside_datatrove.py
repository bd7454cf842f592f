"""Parameters that no preset sets decide as datatrove's own do; `make peers` makes its environment."""

import json
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dataassets.recipe import C4, Filter, FineWeb, GopherRepetition
from dataassets.stages.filter import judge, language, measure

TESTS = Path(__file__).parents[2]
PEER = Path(os.environ.get("DATAASSETS_PEERS", TESTS.parent / ".peers")) / "datatrove" / "bin" / "python"
OFF = {"dup_para_frac": None, "dup_para_char_frac": None, "dup_line_frac": None, "dup_line_char_frac": None}
STOP_CHARS = (".", "you.", "。", "e\u0301", "\u2028")
SENTENCES = {"split_paragraph": False}
CASES = [  # ours, then datatrove's class and arguments
    (Filter(c4=C4(**SENTENCES)), "C4QualityFilter", SENTENCES),
    (
        Filter(c4=C4(**SENTENCES, terminal_punct=False, min_words_per_line=0, min_sentences=2, citations=False)),
        "C4QualityFilter",
        SENTENCES | {"filter_no_terminal_punct": False, "min_words_per_line": 0, "min_num_sentences": 2,
                     "remove_citations": False},
    ),
    (
        Filter(c4=C4(terminal_punct=False, min_words_per_line=0, min_sentences=4)),
        "C4QualityFilter",
        {"filter_no_terminal_punct": False, "min_words_per_line": 0, "min_num_sentences": 4},
    ),
    (
        Filter(fineweb=FineWeb(stop_chars=STOP_CHARS, line_punct_ratio=0.5)),
        "FineWebQualityFilter",
        {"stop_chars": STOP_CHARS, "line_punct_thr": 0.5},
    ),
    *(
        (
            Filter(gopher_repetition=GopherRepetition(**OFF, top_n_grams=top, dup_n_grams=dup)),
            "GopherRepetitionFilter",
            OFF | {"top_n_grams": [*top.items()], "dup_n_grams": [*dup.items()]},
        )
        for top, dup in [
            ({1: 0.25, 5: 0.2, 20: 0.1}, {}),
            ({}, {1: 0.7, 2: 0.4, 3: 0.3, 4: 0.25, 12: 0.05, 20: 0.01}),
        ]
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    monkeypatch.setattr(language, "identify", lambda texts: (["en"] * len(texts), np.ones(len(texts), np.float32)))


@pytest.fixture(scope="module")
def texts(real_texts, pieces):
    """Real texts, and ones made of what breaks text code.

    None without a word: datatrove's rule divides by their number. None with IS_ALPHA: with a mark at its side, spaCy
    throws at the second one that it meets but not at the first, so that what datatrove does depends on what it read.
    """
    chosen, pieces = random.Random(7), [piece for piece in pieces if piece != "IS_ALPHA"]
    made = ["".join(chosen.choices(pieces, k=chosen.randint(3, 90))) for _ in range(600)]
    return real_texts + [text for text in made if any(char.isalnum() for char in text)]


@pytest.fixture(scope="module")
def theirs(texts):
    """Reason and text of each document, by each case; all in one process, which loads spaCy once."""
    if not PEER.exists():
        pytest.skip(f"wants {PEER}: run `make peers`, or name the folder of peers in DATAASSETS_PEERS")
    asked = {"texts": texts, "filters": [[name, arguments] for _, name, arguments in CASES]}
    command = [PEER, TESTS / "bench" / "peers" / "datatrove_parameters.py"]
    found = subprocess.run(command, input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_parameters_decide_as_those_of_datatrove(case, texts, theirs, documents_of):
    chosen, documents = CASES[case][0], documents_of(texts)
    table, _ = judge(documents, measure(documents, settings=chosen)[0], settings=chosen)
    reasons = [reason.split(":")[-1] for reason in table["reason"].to_pylist()]
    expected = [reason for reason, _ in theirs[case]]
    assert reasons == expected
    assert table["text"].to_pylist() == [text for _, text in theirs[case]]
    assert {"", *expected} != {""}, "some go"
    assert "" in expected, "some stay"
