"""clean: bytes to text. Charset, main content of HTML, normal form, personal data."""

from dataassets.stages.clean.clean import clean
from dataassets.stages.clean.pii import PII_PATTERNS, count_pii

__all__ = ["PII_PATTERNS", "clean", "count_pii"]
