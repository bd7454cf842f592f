"""What signals depend on: the settings that shape the measuring, apart from the thresholds that judge."""

from typing import Any

from dataassets import models
from dataassets.recipe import C4, Filter, FineWeb, GopherQuality

LANGUAGE_MODEL = "lid.176.ftz"
# Settings of C4 that change its text; min_sentences only judges.
C4_REWRITING = ("terminal_punct", "min_words_per_line", "max_word_length", "citations",
                "lorem_ipsum", "javascript", "curly_bracket", "policy")  # fmt: skip


def measured_by(settings: Filter) -> dict[str, Any]:
    """The part of the settings that signals depend on; a changed threshold leaves it as it is.

    A rule that is off is measured with its defaults, so switching it on with them changes nothing here.

    Args:
        settings: of the whole stage.

    Returns:
        Plain JSON values.

    >>> measured_by(Filter()) == measured_by(Filter(c4=C4(min_sentences=9), fineweb=FineWeb(new_line_ratio=None)))
    True
    """
    c4, quality, fineweb = (
        settings.c4 or C4(),
        settings.gopher_quality or GopherQuality(),
        settings.fineweb or FineWeb(),
    )
    return {
        "c4": {name: getattr(c4, name) for name in C4_REWRITING},
        "stop_words": sorted(set(quality.stop_words)),
        "short_line_length": fineweb.short_line_length,
        "language_model": {LANGUAGE_MODEL: models.sha256(LANGUAGE_MODEL)},
    }
