"""Filter statistics and decisions beside datatrove's, the same texts in one run, on one core, in turns.

`make peers` makes the peer's environment. Its filters run in a process of their own that times itself (processor
seconds, so that another's work on the machine counts for neither); before each round of ours it makes one of its own.
Ours are handed the texts TIMES times over in one call: a part of a product holds 64 MB, and a call costs some
milliseconds whatever it holds (histograms, samples), which would be a third of so little text. Both sides are warm.
"""

import json
import os
import statistics
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from bench_corpora import corpora, size, thinned

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition
from dataassets.records import DOCUMENTS
from dataassets.stages.filter import judge, language, measure, warm_up

HERE = Path(__file__).parent
PEERS = Path(os.environ.get("DATAASSETS_PEERS", HERE.parents[1] / ".peers"))
PEER = PEERS / "datatrove" / "bin" / "python"
RULES = {
    "gopher_repetition": GopherRepetition(),
    "gopher_quality": GopherQuality(),
    "c4": C4(terminal_punct=False),
    "fineweb": FineWeb(),
}
CHAIN = Filter(**RULES)
ROUNDS, TIMES = 3, 8
CORES = os.sched_getaffinity(0)
TEXTS = {name: thinned(texts, num_bytes=400_000) for name, texts in corpora()}


def table_of(texts):
    rows = range(len(texts))
    columns = {
        "id": pa.array([row.to_bytes(16) for row in rows], pa.binary(16)),
        "text": pa.array(texts, pa.large_string()),
        "origin": pa.array(["a" for _ in rows]),
        "position": pa.array(rows, pa.int64()),
    }
    nulls = {field.name: pa.nulls(len(texts), field.type) for field in DOCUMENTS if field.name not in columns}
    return pa.table(columns | nulls).select(DOCUMENTS.names).cast(DOCUMENTS)


@pytest.fixture(autouse=True)
def _filters_alone(monkeypatch):
    """No language id, which datatrove's four filters do not have either; and one core for both."""
    monkeypatch.setattr(language, "identify", lambda texts: (["en"] * len(texts), np.ones(len(texts), np.float32)))
    os.sched_setaffinity(0, {max(CORES)})
    warm_up()
    yield
    os.sched_setaffinity(0, CORES)


@pytest.fixture
def peer(tmp_path):
    """A call that starts the peer on some texts and gives a call: filter's name to seconds and reasons."""
    if not PEER.exists():
        pytest.skip(f"wants {PEER}: run `make peers`, or name the folder of peers in DATAASSETS_PEERS")
    started = []

    def start(texts):
        where = tmp_path / "texts.json"
        where.write_text(json.dumps(texts))
        command = [PEER, HERE / "peers" / "datatrove_filters.py", where]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)

        def ask(name):
            print(name, file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        return ask

    yield start
    for process in started:
        process.communicate()


def filtered(documents):
    return judge(documents, measure(documents, settings=CHAIN)[0], settings=CHAIN)[0]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.benchmark(group="four filters", timer=time.process_time)
def test_filters_beside_datatrove(benchmark, peer, name):
    documents, ask, seconds = table_of(TEXTS[name]), peer(TEXTS[name]), {}
    many = table_of(TEXTS[name] * TIMES)
    filtered(many)
    for rule in RULES:  # each on the original text
        seconds[rule], reasons = ask(rule)
        alone = Filter(**{rule: RULES[rule]})
        ours = judge(documents, measure(documents, settings=alone)[0], settings=alone)[0]
        assert ours["reason"].to_pylist() == reasons
    chain, found = [], []

    def their_turn():
        chain.append(ask("chain"))

    def our_turn():
        found.append(filtered(many))

    benchmark.pedantic(our_turn, setup=their_turn, rounds=ROUNDS)
    assert found[0]["reason"].to_pylist() == chain[0][1] * TIMES
    ours = benchmark.stats.stats.median / TIMES
    text_mb = sum(map(size, TEXTS[name])) / 1e6
    theirs = statistics.median(s for s, _ in chain)
    benchmark.extra_info.update(
        MB_per_s=round(text_mb / ours, 1),
        datatrove_chain_MB_per_s=round(text_mb / theirs, 2),
        times_datatrove_chain=round(theirs / ours),
        times_datatrove_each=round(sum(seconds.values()) / ours),
        datatrove_MB_per_s={rule: round(text_mb / s, 2) for rule, s in seconds.items()},
    )


def both_halves(pool, halves):
    """Seconds until both halves are measured by what gives workers."""
    began = time.perf_counter()
    for _ in pool.map(measured, halves):
        pass
    return time.perf_counter() - began


def measured(documents):
    """All statistics; a worker process has no patch, so it asks for no language by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "identify", lambda texts: (["en"] * len(texts), np.ones(len(texts), np.float32)))
        return len(measure(documents, settings=CHAIN)[0])


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
@pytest.mark.benchmark(group="statistics on two cores")
def test_two_workers_beside_one(benchmark, kind):
    if len(CORES) < 2:
        pytest.skip("wants two cores")
    os.sched_setaffinity(0, CORES)
    documents = table_of([text for texts in TEXTS.values() for text in texts] * 8)
    middle = len(documents) // 2  # the second half repeats the first
    halves = [documents.slice(0, middle), documents.slice(middle)]
    alone = []
    with kind(1) as one, kind(2) as two:
        both_halves(one, halves)
        both_halves(two, halves * 2)  # kernels loaded, chunks known, in every worker
        benchmark.pedantic(both_halves, (two, halves), setup=lambda: alone.append(both_halves(one, halves)), rounds=5)
    ratios = [a / b for a, b in zip(alone, benchmark.stats.stats.data, strict=True)]
    benchmark.extra_info.update(times_one=round(statistics.median(ratios), 2), times_one_best=round(max(ratios), 2))
