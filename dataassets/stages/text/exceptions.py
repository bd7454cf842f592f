"""Chunks that the English rules do not reach: contractions, abbreviations, times and emoticons, and how they are cut.

A chunk is what stands between white space. The words are facts of spaCy 3.8 (MIT), regular ones made from rules here.
"""

from collections.abc import Iterator
from functools import lru_cache

_PERSONS = "i you he she it we they"
_ASKING = "who what when where why how there that this these those"
_MODALS = "could might must should would"
# Ending: stems that take it, also with a capital. Each ending is written with its apostrophe and without.
_CONTRACTIONS = {
    "'m": "i",
    "'m|a": "i",
    "'ll": f"{_PERSONS} {_ASKING}",
    "'ll|'ve": f"{_PERSONS} {_ASKING}",
    "'d": f"{_PERSONS} {_ASKING}",
    "'d|'ve": f"{_PERSONS} {_ASKING}",
    "'ve": f"i you we they who what when where why how there these those {_MODALS} not",
    "'re": "you we they who what when where why how there these those",
    "'s": "he she it who what when where why how there that this",
    "n't": f"ca do does did had may need ought sha wo {_MODALS} ai are is was were have has dare",
    "n't|'ve": f"ca do does did had may need ought sha wo {_MODALS}",
}
_OTHER_WORDS = "ill its hell shell shed were well whore"  # spelled like a contraction
_CUT = "y'|all y|all how|'d|'y How|'d|'y c'm|on C'm|on let|'s Let|'s can|not Can|not gon|na Gon|na got|ta Got|ta"

_BOTH_CASES = "doin goin nothin nuthin ol somethin lovin havin"  # with and without an apostrophe after them
_WHOLE = r"""
    em 'em ll 'll nuff 'nuff 'S 's ‘S ‘s and/or w/o 're 'Cause 'cause 'cos 'Cos 'coz 'Coz 'cuz 'Cuz 'bout 'd
    ma'am Ma'am o'clock O'clock
    Mt. Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. Jan. Jul. Jun. Kan.
    Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. Nev. Nov. Oct. Okla. Ore. Pa.
    S.C. Sep. Sept. Tenn. Va. Wash. Wis.
    a.m. p.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. Md. Messrs. Mo.
    Mont. Mr. Mrs. Ms. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s.
    ' '' \") <space> C++ \t \n — ä. ö. ü.
    """
_EMOTICONS = r"""
    (: (-: =) [: [-: [= =] :o) (o: 8) 8-) (-8 ;) ;-) (; (-; ): )-: (= =( >:( :') :'-) :'( :'-( =/ =| ]= =[ :1 =3 :() >:o
    ;D ;-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< ._. ;_; -_- -__- v.v V.V v_v V_V o_o o_O O_o O_O 0_o o_0
    0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 (^_^) (-_-) (._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯
    (╯°□°）╯︵┻━┻ ><(((*>
    """
_MOUTHS = ") )) ))) ] } ( (( ((( / | P p O o 0 * 3 > X x D"  # after a colon, with a nose and without


@lru_cache(maxsize=1)
def exceptions() -> dict[str, tuple[int, ...]]:
    """Chunks cut by hand: where each of their words ends, in characters.

    >>> exceptions()["Don't"], exceptions()["e.g."], "shell" in exceptions()
    ((2, 5), (4,), False)
    """
    known: dict[str, tuple[int, ...]] = {}
    for spelled in _spelled():
        parts = [spelled] if spelled.endswith("|") else spelled.split("|")
        ends = tuple(len("".join(parts[: k + 1])) for k in range(len(parts)))
        known["".join(parts)] = ends
        known["".join(parts).replace("'", "’")] = ends
    return known


def _spelled() -> Iterator[str]:
    """Every exception, its cuts as bars; an emoticon may end with a bar of its own."""
    for ending, stems in _CONTRACTIONS.items():
        for stem in stems.split():
            yield from _contracted(stem, ending)
            yield from _contracted(stem.title(), ending)
    yield from _CUT.split()
    for word in _BOTH_CASES.split():
        yield from (word, word + "'", word.title(), word.title() + "'")
    yield from _WHOLE.split()
    yield from _EMOTICONS.split()
    for mouth in _MOUTHS.split():
        yield from (f":{mouth}", f":-{mouth}")
    for letter in "abcdefghijklmnopqrstuvwxyz":
        yield f"{letter}."
    for scale in "cfkCFK":
        yield f"°|{scale}|."
    for hour in range(1, 13):
        yield from (f"{hour}|am", f"{hour}|pm", f"{hour}|a.m.", f"{hour}|p.m.")


def _contracted(stem: str, ending: str) -> Iterator[str]:
    """With the apostrophe, and without unless that is another word."""
    yield f"{stem}|{ending}"
    bare = f"{stem}|{ending}".replace("'", "")
    if bare.replace("|", "").lower() not in _OTHER_WORDS.split():
        yield bare
