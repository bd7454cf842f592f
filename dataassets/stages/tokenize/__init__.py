"""Text to token ids."""

from dataassets.stages.tokenize.stage import sampled, tokenize, verify_sample
from dataassets.stages.tokenize.vocabulary import Vocabulary, decode, vocabulary

__all__ = ["Vocabulary", "decode", "sampled", "tokenize", "verify_sample", "vocabulary"]
