"""Knobs of the published rules. Defaults are as datatrove 0.10.1 has them.

None switches a test off; so does 0 in Gopher's rules, but for n-grams, as there.
"""

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dataassets.recipe.base import Model, is_written

MOST_WORDS = 20  # of an n-gram
STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")  # Gopher, Rae et al. 2021, table A1


class Length(Model):
    """Size limits of a document. Reasons: length:short, length:long, length:few_words, :many_lines and so on."""

    min: int | None = Field(None, ge=0, description="fewest characters (code points) of a document that stays")
    max: int | None = Field(None, ge=0, description="most characters (code points) of a document that stays")
    min_words: int | None = Field(None, ge=0, description="fewest words of a document that stays")
    max_words: int | None = Field(None, ge=0, description="most words of a document that stays")
    min_lines: int | None = Field(None, ge=0, description="fewest lines, not counting blank ones")
    max_lines: int | None = Field(None, ge=0, description="most lines, not counting blank ones")

    @model_validator(mode="after")
    def _leaves_room(self, info: ValidationInfo) -> "Length":
        for least, most in (("min", "max"), ("min_words", "max_words"), ("min_lines", "max_lines")):
            low, high = getattr(self, least), getattr(self, most)
            if is_written(info) and low is not None and high is not None and low > high:
                raise ValueError(
                    f"{least} = {low} is above {most} = {high}, so nothing stays; raise {most} or lower {least}"
                )
        return self


class Language(Model):
    """Language by fastText lid.176 on the whole text, LF as space. Reasons: language:other, language:low_score."""

    keep: tuple[str, ...] = Field(("en",), min_length=1, description="ISO 639 codes that stay, as lid.176 names them")
    min_score: float = Field(0.65, ge=0, le=1, description="least score of the label; FineWeb's is 0.65")


class GopherRepetition(Model):
    """Repetition limits of Gopher (table A1); a share above its limit drops the document."""

    dup_para_frac: float | None = Field(0.30, ge=0, description="share of paragraphs seen before")
    dup_para_char_frac: float | None = Field(0.20, ge=0, description="share of characters in paragraphs seen before")
    dup_line_frac: float | None = Field(0.30, ge=0, description="share of lines seen before")
    dup_line_char_frac: float | None = Field(0.20, ge=0, description="share of characters in lines seen before")
    top_n_grams: dict[int, float] = Field(
        {2: 0.20, 3: 0.18, 4: 0.16},
        description="n: share of characters in the most frequent n-gram; tested by rising n, from 1 to 20",
    )
    dup_n_grams: dict[int, float] = Field(
        {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10},
        description="n: share of characters in n-grams seen before; tested by rising n, from 1 to 20",
    )
    ngram_separator: bool = Field(
        False, description="n-grams seen before: 'ab c' is not 'a bc'; datatrove takes them for the same"
    )

    @field_validator("top_n_grams", "dup_n_grams")
    @classmethod
    def _orders(cls, limits: dict[int, float]) -> dict[int, float]:
        if bad := sorted(n for n in limits if not 1 <= n <= MOST_WORDS):
            raise ValueError(f"n-grams of n = {bad[0]} are not measured; take n from 1 to {MOST_WORDS}")
        return limits


class GopherQuality(Model):
    """Quality limits of Gopher (section A1.1)."""

    min_words: int | None = Field(50, ge=0, description="fewest words with a character that is no symbol")
    max_words: int | None = Field(100_000, ge=0, description="most words with a character that is no symbol")
    min_avg_word_length: float | None = Field(3.0, ge=0, description="least mean length of these words, characters")
    max_avg_word_length: float | None = Field(10.0, ge=0, description="most mean length of these words, characters")
    max_symbol_ratio: float | None = Field(0.1, ge=0, description="most '#', and most ellipses, per word")
    max_bullet_lines: float | None = Field(0.9, ge=0, description="most share of lines that start with a bullet")
    max_ellipsis_lines: float | None = Field(0.3, ge=0, description="most share of lines that end with an ellipsis")
    min_alpha_words: float | None = Field(0.8, ge=0, description="least share of words with a letter")
    min_stop_words: int | None = Field(2, ge=0, description="least number of distinct stop words")
    stop_words: tuple[str, ...] = Field(STOP_WORDS, description="the stop words, matched exactly")


class C4(Model):
    """Line rules of C4; what they drop from a document that stays is gone from its text."""

    split_paragraph: bool = Field(
        True, description="judge lines; false: sentences, each counted as one, those that stay joined by a space"
    )
    terminal_punct: bool = Field(True, description="drop lines that do not end in . ? ! or a quote")
    min_words_per_line: int = Field(3, ge=0, description="drop lines with fewer words")
    max_word_length: int = Field(1000, ge=0, description="drop lines with a longer word, characters")
    min_sentences: int = Field(5, ge=0, description="drop documents with fewer sentences left")
    citations: bool = Field(True, description="remove [1], [edit] and [citation needed]")
    lorem_ipsum: bool = Field(True, description="drop documents with lorem ipsum")
    javascript: bool = Field(True, description="drop lines that name javascript")
    curly_bracket: bool = Field(True, description="drop documents with a {")
    policy: bool = Field(True, description="drop lines of cookie and privacy policies")


class FineWeb(Model):
    """Line shape limits of FineWeb."""

    line_punct_ratio: float | None = Field(0.12, ge=0, description="least share of lines with a final mark")
    stop_chars: tuple[str, ...] | None = Field(
        None, description="final marks, texts of any length; default: 159 marks that end sentences in some script"
    )
    line_punct_exclude_zero: bool = Field(False, description="a share of exactly 0 passes")
    short_line_ratio: float | None = Field(0.67, ge=0, description="most share of short lines")
    short_line_length: int = Field(30, ge=0, description="a line is short up to this many characters")
    char_dup_ratio: float | None = Field(0.01, ge=0, description="most share of characters in repeated lines")
    new_line_ratio: float | None = Field(0.3, ge=0, description="most line feeds per word")

    @field_validator("stop_chars")
    @classmethod
    def _end_lines(cls, marks: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """In one order, each once: keys of products do not know the recipe's."""
        if marks == ():
            raise ValueError(
                "stop_chars = []: no line would end in one; to skip the test, write line_punct_ratio: null"
            )
        if marks is not None and any(mark == "" or "\n" in mark for mark in marks):
            raise ValueError(f"stop_chars = {list(marks)}: one is empty or has a line feed; take what ends a line")
        return None if marks is None else tuple(sorted(set(marks)))
