"""Laws of the command line: numbers that add up, one line for an error, and code 2."""

import pytest

from loader.__main__ import main


def test_plan_tells_windows_steps_and_what_is_left_out(mix, capsys):
    assert main(["plan", str(mix.path), "--seq-len", "32", "--batch-size", "5", "--world-size", "3"]) == 0
    out = capsys.readouterr().out
    num_tokens = len(mix.tokens["train"])
    num_windows = (num_tokens - 33) // 32 + 1
    assert f"{num_tokens:,} in 120 documents" in out
    assert f"{num_windows:,} of 32 tokens" in out
    assert f"{num_windows // 15:,} of 3 ranks x 5 rows" in out
    assert f"{num_windows % 15:,} windows of each epoch, {num_tokens - 32 * num_windows - 1:,} tokens" in out


def test_bench_measures_the_loader_beside_a_floor(mix, capsys):
    small = ["--split", "val", "--seq-len", "16", "--batch-size", "2", "--seconds", "0.2"]
    assert main(["bench", str(mix.path), *small]) == 0
    lines = capsys.readouterr().out.splitlines()
    rates = {line.split()[0]: float(line.split()[1].replace(",", "")) for line in lines[1:3]}
    assert set(rates) == {"floor", "Loader"}
    assert all(rate > 0 for rate in rates.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "/nowhere"], "python -m loader plan: /nowhere: no such folder"),
        (["plan", "MIX", "--split", "test"], "has no split 'test', it has [train, val]"),
        (["plan", "MIX", "--split", "none"], "has no split None"),
        (["bench", "MIX", "--batch-size", "0"], "python -m loader bench: batch_size = 0, wanted an integer >= 1"),
        (["plan", "MIX", "--seq-len", "100000"], "take a smaller batch_size or seq_len, or more data"),
    ],
)
def test_what_is_refused_is_told_in_one_line(mix, capsys, arguments, message):
    assert main([str(mix.path) if word == "MIX" else word for word in arguments]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert message in found.err
    assert found.err.count("\n") == 1


def test_help_names_both_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "plan" in out
    assert "bench" in out
