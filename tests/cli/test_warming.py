"""`warm-up` knows every stage with kernels and says what each took."""

import re
from pathlib import Path

from click.testing import CliRunner

from dataassets import stages
from dataassets.cli import cli, warming


def test_every_stage_with_kernels_is_warmed_up():
    folders = [path for path in Path(stages.__file__).parent.iterdir() if path.is_dir()]
    with_kernels = {path.name for path in folders if any("@compiled" in f.read_text() for f in path.rglob("*.py"))}
    assert set(warming.groups()) == with_kernels


def test_each_group_has_a_line_with_its_seconds(monkeypatch):
    called = []
    monkeypatch.setattr(warming, "groups", lambda: {"text": lambda: called.append(1), "mix": lambda: called.append(2)})
    result = CliRunner().invoke(cli, ["warm-up"])
    assert result.exit_code == 0
    assert called == [1, 2]
    assert re.fullmatch(r"text +\d+\.\d s\nmix +\d+\.\d s\nall +\d+\.\d s\n", result.output)
