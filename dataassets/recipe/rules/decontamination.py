"""Knobs of decontamination: which evaluation sets, how long a match, what becomes of a document that holds one."""

import re
from pathlib import PurePath
from typing import Any, Literal

from pydantic import Field, field_validator

from dataassets.recipe.base import FilePath, Model

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class Decontamination(Model):
    """Overlap with evaluation sets. Reasons: decontamination:<set>; where it masks, also counted as masked:<set>."""

    files: dict[str, FilePath] = Field(
        min_length=1, description="evaluation sets, a name and a file each; a list of files names them by their stems"
    )
    fields: tuple[str, ...] = Field((), description="columns that make up an item's text; default: all that hold text")
    ngram: int = Field(13, ge=1, le=100, description="words in a match; GPT-3's is 13 (Brown et al. 2020, appendix C)")
    min_words: int = Field(8, ge=1, description="an item of fewer words than ngram matches whole if it has this many")
    min_matches: int = Field(1, ge=1, description="matching n-grams from which on a document is contaminated")
    action: Literal["drop", "mask"] = Field("drop", description="drop contaminated documents, or mask what matches")
    placeholder: str = Field("[…]", min_length=1, description="stands for each line of what is masked")
    drop_share: float = Field(1.0, gt=0, le=1, description="with mask: a document goes from this share of its words on")

    @field_validator("files", mode="before")
    @classmethod
    def _named_by_their_stems(cls, files: object) -> object:
        if not isinstance(files, list | tuple):
            return files
        named: dict[str, Any] = {}
        for file in files:
            name = PurePath(str(file)).name.split(".")[0]
            if name in named:
                raise ValueError(f"files = {list(files)}: two are named {name}; write {{name: file}} for each")
            named[name] = file
        return named

    @field_validator("files")
    @classmethod
    def _plain_names(cls, files: dict[str, FilePath]) -> dict[str, FilePath]:
        """In the order of names: an n-gram that two sets share is the first one's, whatever the recipe's order."""
        for name in files:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: it is made of letters, digits and _-.; write {{name: file}}")
        return dict(sorted(files.items()))

    @field_validator("placeholder")
    @classmethod
    def _one_line(cls, placeholder: str) -> str:
        if len(placeholder.splitlines()) != 1 or placeholder.splitlines()[0] != placeholder:
            raise ValueError(f"placeholder = {placeholder!r} has a line end, which would move the lines; take one line")
        return placeholder
