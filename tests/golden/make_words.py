"""Writes words_spacy.json.gz: texts, and the words and sentences of spaCy in them, as datatrove 0.10.1 calls it.

Wants `pip install spacy==3.8.18`; run as `python tests/golden/make_words.py`. Texts are those that come with Python,
and pieces that break tokenizers, joined at random.
"""

import contextlib
import functools
import gzip
import json
import pydoc_data.topics
import random
from pathlib import Path

GOLDEN = Path(__file__).with_name("words_spacy.json.gz")
MODULES = ["abc", "argparse", "collections", "decimal", "difflib", "email", "json", "re", "subprocess", "typing"]
_PIECES = """
    \x00 \x1b !!! !? " #1 $5 % %s & && ' '' 'S 's 'tis ( (( (*_*) (-: (._.) (: (╯°□°）╯︵┻━┻ ) )) )-: ): **kw
    *args ++ +1 - -- --- -1 -_- .. ... .... ..... ._. / // 0_0 1,2,3 1,b 1/2 10,000 10a.m. 10km/h 12pm
    192.168.0.1 20°C. 3.14 5'11" 50% 5US$ 5kg 5p.m. 5мм 7°C 7كم 8) 8.8.8.8 8.8.8.8:80/x 90s 9am 9€ :'( :( :(( :)
    :)) :-) :/ :D :P :o) ;-) </3 </b> <3 <b> <space> =) =3 >.< ><(((*> ?! @ @x A A.B C# C++ C++. Don’t I'm
    IS_ALPHA IT'S Mr. No. Ph.D. St. U.S. U.S.A. US$5 Words Z. Zé [ [: \\ \\") \\n \\t ] ^_^ _ __init__ `` a a,b
    a--b a-b a. a...b a..b a.b@c.de: a/b a:b a<b a=b a>b a@b.co a[0] and/or a–b cannot don't e-mail e.g.
    end.Next etc. example.org e\u0301 f(x): file.py foo():x ftp://x gonna http://example.org
    https://a.b.co/x?y=1#z i.e. it's lower.Upper m² o'clock o_O os.path.join rock'n'roll self.x she'll
    state-of-the-art they'd've vs. w/o won't word words. www.example.com/a(b) x++ x=3 x=D xD y'all {a} | || ~ ~~
    \x7f ¡ £ § © ª « \xad ® ¯\\(ツ)/¯ ° °C.? °f. ² ³ µm ¶ · » ½ ¿ × ß é ÷ İ ı ƻ ǅ ʔ Ελληνικά Ёж русский тбكم ёж.
    עברית العربية، ١٢ हिन्दी। ಠ_ಠ ไทย ẞ \u200b \u200d – — —— ‘ ’ “ ” „ • … …… €9.99 № ™ ☂ ★ 「あ」 日本語 日本語。 한국어
    \ue000 ﬁ \ufeff � 𝐀 👩\u200d💻 😀 𠀀
    """
PIECES = sorted(_PIECES.split())
SPACES = ["", "", "", " ", " ", " ", " ", "  ", "\n", " \n", "\t", "\r\n", "\x0b", "\x1c", "\x1f", "\x85", "\xa0",
          "\u2009", "\u2028", "\u3000"]  # fmt: skip


@functools.cache
def _pipeline():
    import spacy

    made = spacy.blank("en")
    made.add_pipe("sentencizer")
    with contextlib.suppress(AssertionError):
        for _ in range(2):  # the first one of a process passes, all others are refused
            _tokens(made, "IS_ALPHA")
    return made


def _tokens(pipeline, text):
    pipeline.max_length = len(text) + 10
    with pipeline.memory_zone():
        doc = pipeline(text)
        return [token.text.strip() for token in doc if token.text.strip()], len(list(doc.sents))


def reference(text):
    """Words of a text and its number of sentences."""
    try:
        return _tokens(_pipeline(), text)
    except AssertionError:
        return _tokens(_pipeline(), text.replace("IS_ALPHA", ""))


def _texts():
    yield from ("", " ", "\n", "Hi.  ", 'a.  " b', "IS_ALPHA", "xIS_ALPHAy IS_ALPHA/word.")
    for name, text in sorted(pydoc_data.topics.topics.items()):
        if len(name) % 3 == 0:
            yield text
    for name in MODULES:
        yield __import__(name, fromlist=["x"]).__doc__ or ""
    dice = random.Random(1)
    for piece in PIECES:
        yield " ".join(
            before + piece + after for before in ["", "(", "x", "°"] for after in ["", ".", ",", ")", ":", "x"]
        )
    for _ in range(500):
        yield "".join(dice.choice(PIECES) + dice.choice(SPACES) for _ in range(dice.randint(1, 30)))


def _main():
    words = sorted(word for word in _pipeline().tokenizer.rules if word.strip())
    texts = [*_texts(), " ".join(words), "".join(f"x{word} {word}y ({word}), " for word in words)]
    rows = [[text, *reference(text)] for text in texts]
    with gzip.GzipFile(GOLDEN, "wb", mtime=0) as file:
        file.write(json.dumps(rows, ensure_ascii=False).encode())


if __name__ == "__main__":
    _main()
