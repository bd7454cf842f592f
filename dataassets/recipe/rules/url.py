"""Knobs of the rule that looks at the address of a document."""

from pydantic import Field, ValidationInfo, model_validator

from dataassets.recipe.base import FilePath, Model, is_written

LISTS = ("domains", "urls", "folders", "banned_words", "soft_words", "subwords", "substrings")


class Url(Model):
    """Lists of addresses. Reasons: url:domain, url:url, url:banned_word, url:soft_words, url:subword, url:substring."""

    domains: tuple[FilePath, ...] = Field((), description="lists of domains; their subdomains are blocked too")
    urls: tuple[FilePath, ...] = Field((), description="lists of addresses")
    folders: tuple[FilePath, ...] = Field((), description="folders with files domains and urls, as UT1's adult")
    banned_words: tuple[FilePath, ...] = Field((), description="lists of words; one in an address blocks it")
    soft_words: tuple[FilePath, ...] = Field((), description="lists of words; several in an address block it")
    min_soft_words: int = Field(2, ge=1, description="how many different soft words block; datatrove's is 2")
    subwords: tuple[FilePath, ...] = Field((), description="lists of parts of an address's letters and digits")
    substrings: tuple[FilePath, ...] = Field((), description="lists of parts of an address as it is written")
    allow: tuple[FilePath, ...] = Field((), description="lists of domains and addresses that stay whatever lists say")

    @model_validator(mode="after")
    def _names_a_list(self, info: ValidationInfo) -> "Url":
        if is_written(info) and not any(getattr(self, name) for name in LISTS):
            raise ValueError(f"url = {{}} names no list; give one of {', '.join(LISTS)}, such as domains: [FILE]")
        return self
