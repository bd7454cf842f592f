"""Laws of addresses and of lists of them: the normal form, and what is found, as plain code has it."""

import gzip
import re
import tracemalloc

import idna
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import RecipeError
from dataassets.stages.filter import blocklists, lists
from dataassets.stages.filter.addresses import normal_form, plain_host
from dataassets.stages.filter.blocklists import load, look_up, names_of
from dataassets.stages.filter.entries import Pile, _mixed, hash_back, suffix
from dataassets.stages.filter.url_words import find_parts, find_words, load_parts, load_words
from dataassets.stages.text import utf8_buffers

HOSTS = ["a.example", "B.example", "www.a.example", "x.y.a.example", "example", "localhost", "1.2.3.4", "9.1.2.3.4",
         "[::1]", "[2001:DB8::0:1]", "[no]", "bücher.example", "xn--bcher-kva.example", "BÜCHER。example", "a%2eb",
         "a..b", ".a.example", "a.example.", "a_b.c-d.example", "", "℀.example", "com"]  # fmt: skip
URLS = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(["http://", "HTTPS://", "//", "", "ftp+x://", " \thttp://", "1http://", "http:", "://", "mailto:"]),
    st.sampled_from(["", "", "me@", "me:b@d@"]),
    st.sampled_from(HOSTS) | st.text("ab.é1-", max_size=8),
    st.sampled_from(["", "", ".", ":80", ":443", ":8080", ":"]),
    st.sampled_from(["", "/", "//", "/A/b", "/a?q=/", "?q", "#f", "/x#f/", "\\b", "/é", "/a b"]) | st.text(max_size=6),
    st.sampled_from(["", "", "/", "\n"]),
)
URL_LISTS = st.lists(URLS | st.text(max_size=12), min_size=1, max_size=8)


def plain_form(url):
    """Host and normal form, by `re`."""
    text = url.strip("".join(map(chr, range(33))))
    text = re.sub(r"\A(?:[A-Za-z][A-Za-z0-9+.-]*:)?//", "", text)
    authority = re.match(r"[^/?#\\]*", text)[0]
    rest = re.sub(r"\A\?", "/?", text[len(authority) :].partition("#")[0])
    host, port = re.fullmatch(r"(\[[^\]]*\]?|[^:]*)(.*)", authority.rpartition("@")[2], re.DOTALL).groups()
    if "[" in host[:1] or "%" in host or not host.isascii():
        host, colon, behind = plain_host(host).partition(":") if "[" not in host[:1] else (plain_host(host), "", "")
        port = colon + behind + port
    host = host.rstrip(".")
    host = host.encode().lower().decode()  # ASCII letters alone
    whole = host + ("" if port in ("", ":", ":80", ":443") else port) + rest
    return host, host + whole[len(host) :].rstrip("/")


def column(urls):
    return utf8_buffers(pa.array(urls, pa.large_string()))


def written(tmp_path, *lines, name="list"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [("filter.url.domains", str(path))]


@given(URLS | st.text(max_size=20))
def test_the_normal_form_is_the_plain_one(url):
    assert normal_form(url) == plain_form(url)


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://User:pw@WWW.Example.COM:443/Path/?Q=1#frag", "www.example.com/Path/?Q=1"),
        ("example.com", "example.com"),
        ("http://example.com/", "example.com"),
        ("http://example.com?x=1", "example.com/?x=1"),
        ("http://example.com:8080//", "example.com:8080"),
        ("http://example.com..", "example.com"),
        ("http://bücher.example/ü", "xn--bcher-kva.example/ü"),
        ("http://[2001:DB8:0:0::1]:443/x", "[2001:db8::1]/x"),
        ("//cdn.example/x.js", "cdn.example/x.js"),
        ("", ""),
    ],
)
def test_known_normal_forms(url, form):
    assert normal_form(url)[1] == form


@pytest.mark.parametrize(
    "host", ["BÜCHER.example", "faß.de", "日本語。テスト", "ｅｘａｍｐｌｅ.com", "Ω.gr", "пример.испытание"]
)
def test_a_host_becomes_what_uts_46_says(host):
    assert plain_host(host) == idna.encode(host, uts46=True, transitional=False).decode()


def plain_domain(host, domains):
    """The shortest listed domain that a host lies in."""
    labels = host.split(".")
    parts = [host] if labels[-1].isdigit() else [".".join(labels[k:]) for k in range(len(labels) - 1, -1, -1)]
    return next((part for part in parts if part and part in domains), None)


@given(urls=URL_LISTS, domains=st.sets(st.sampled_from(HOSTS)), listed=st.sets(URLS, max_size=4), data=st.data())
def test_lookups_are_those_of_plain_sets(urls, domains, listed, data):
    listed |= data.draw(st.sets(st.sampled_from(urls)))
    domains = {plain_form(f"//{host}")[0] for host in domains} - {""}
    forms = {re.sub(r"\Awww\.(?=.)", "", form) for host, form in map(plain_form, listed) if host}
    piles = Pile(), Pile()
    for pile, entries in zip(piles, (domains, forms), strict=True):
        pile.add(entry.encode() for entry in sorted(entries))
    blocked = blocklists.Blocked(*(pile.done() for pile in piles))
    domain_D, url_D = look_up(*column(urls), blocked)
    for url, domain, form in zip(urls, names_of(domain_D, blocked.domains), names_of(url_D, blocked.urls), strict=True):
        host, whole = plain_form(url)
        whole = re.sub(r"\Awww\.(?=.)", "", whole)
        assert domain == plain_domain(host, domains)
        assert form == (whole if host and whole in forms else None)


LINES = """
# a remark
! another
[Adblock Plus 2.0]
plain.example
  spaces.example\t
UPPER.Example
dot.example.
*.star.example
.lead.example
0.0.0.0 hosts.example two.example # why
127.0.0.1\ttab.example
0.0.0.0   wide.example
0.0.0.0 0.0.0.0
||Up.example^
::1 six.example
||adblock.example^
bücher.example
10.0.0.1
2001:db8:0::1
behind.example # remark
a_b-c.example
localhost
""".splitlines()
NAMES = """
plain.example spaces.example upper.example dot.example star.example lead.example hosts.example two.example tab.example
six.example adblock.example xn--bcher-kva.example 10.0.0.1 [2001:db8::1] behind.example a_b-c.example localhost
wide.example 0.0.0.0 up.example
"""


def entries_of(entries):
    places, place = [], 1
    while place < len(entries.blob):
        places.append(entries.at(place))
        place += 2 + int(entries.blob[place]) + 256 * int(entries.blob[place + 1])
    return places


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
def test_a_list_of_domains_may_be_written_in_many_ways(tmp_path, monkeypatch, end, block_bytes):
    monkeypatch.setattr(lists, "BLOCK_BYTES", block_bytes)
    (tmp_path / "list.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + end.join(LINES).encode()))
    found = load(domains=[("k", str(tmp_path / "list.gz"))])
    assert sorted(entries_of(found.domains)) == sorted(NAMES.split())
    assert found.urls.num_bytes == 0


def test_a_list_of_addresses_is_read_as_addresses_are(tmp_path):
    lines = ["http://WWW.a.example/X/", "b.example/y?z#f", "//c.example", "# remark", "", "bücher.example/ü"]
    found = load(urls=written(tmp_path, *lines))
    assert entries_of(found.urls) == ["a.example/X", "b.example/y?z", "c.example", "xn--bcher-kva.example/ü"]


def test_a_list_of_either_parts_them_by_the_slash(tmp_path):
    found = load(either=written(tmp_path, "a.example", "b.example/x", "https://c.example"))
    assert entries_of(found.domains) == ["a.example"]
    assert entries_of(found.urls) == ["b.example/x", "c.example"]


@pytest.mark.parametrize(
    "line",
    [
        "http://a.example",
        "a.example/x",
        "two words",
        "||a.example^$third-party",
        "|| a.example^",
        "@@||a.example^",
        "0.0.0.0 http://a.example",
        "a..é/",
        "*",
    ],
)
def test_a_line_that_is_no_domain_is_told_with_its_number(tmp_path, line):
    with pytest.raises(RecipeError, match=r"^filter\.url\.domains: .*list:3: .* wanted is a domain.*mend the line"):
        load(domains=written(tmp_path, "a.example", "# x", line, "b.example"))


def test_what_is_no_list_is_told(tmp_path):
    (tmp_path / "bytes").write_bytes(b"a.example\n\xff\n")
    with pytest.raises(RecipeError, match=r"bytes:2: .* is no UTF-8"):
        load(domains=[("k", str(tmp_path / "bytes"))])
    (tmp_path / "bad.gz").write_bytes(b"a.example\n")
    with pytest.raises(RecipeError, match=r"k = .*bad\.gz': cannot be read"):
        load(domains=[("k", str(tmp_path / "bad.gz"))])
    with pytest.raises(RecipeError, match="holds no entry"):
        load(urls=written(tmp_path, "# nothing"))
    with pytest.raises(RecipeError, match="'naïve' is no word"):
        load_words(written(tmp_path, "naïve"))


def test_a_million_domains_want_fifty_bytes_each_and_no_more_while_they_are_read(tmp_path):
    num = 1_000_000
    names = [f"{k * 2654435761 % 2**32:08x}.example-{k % 97}.org" for k in range(num)]
    path = written(tmp_path, *names)
    load(domains=path)  # compiled
    tracemalloc.start()
    try:
        found = load(domains=path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.domains.blob.nbytes + found.domains.slots.nbytes < 40 * num
    assert peak < 50 * num
    sample = [*(f"http://sub.{name}:8080/x" for name in names[:: num // 1000]), "http://none.example-1.org/"]
    place_D, _ = look_up(*column(sample), found)
    assert (place_D != 0).tolist() == [True] * (len(sample) - 1) + [False]


WORDS = st.sets(st.text("ab1", min_size=1, max_size=3), max_size=6)


@given(urls=st.lists(st.text("aAbB1-./é%\u212a", max_size=24), min_size=1, max_size=5), banned=WORDS, soft=WORDS)
def test_words_are_those_of_a_split(urls, banned, soft):
    piles = Pile(), Pile()
    for pile, entries in zip(piles, (banned, soft), strict=True):
        pile.add(entry.encode() for entry in sorted(entries))
    own = [pile.done() for pile in piles]
    place_D, num_D = find_words(*column(urls), banned=own[0], soft=own[1])
    for url, word, num in zip(urls, names_of(place_D, own[0]), num_D, strict=True):
        words = [word for word in re.split(r"[^a-z0-9]+", url.encode().lower().decode()) if word]
        assert word == next((one for one in words if one in banned), None)
        assert num == len(soft & set(words))


def test_parts_are_looked_for_in_the_letters_and_digits_or_as_written(tmp_path):
    urls = ["http://a.example/Free-Stuff", "http://freestuff.example", "http://a.example/free_stuff?x=é", "", "free"]
    files = written(tmp_path, "FREE-stuff", "# remark")
    assert find_parts(*column(urls), parts=load_parts(files, squeezed=True), squeezed=True).tolist() == [
        *["freestuff"] * 3,
        None,
        None,
    ]
    as_written = find_parts(*column(urls), parts=load_parts(files, squeezed=False), squeezed=False)
    assert as_written.tolist() == ["free-stuff", None, None, None, None]


def test_equal_halves_of_hashes_prove_nothing():
    """A slot keeps half of a hash: of two strings that share it, one is not taken for the other."""
    seen = {}
    for k in range(100_000):
        text = np.frombuffer(b"%d.example" % k, np.uint8)
        tag = int(_mixed(np.uint64(hash_back(text, 0, len(text))))) >> 32
        if tag in seen:
            break
        seen[tag] = text
    pile = Pile()
    pile.add([seen[tag].tobytes()])
    found = pile.done()
    assert suffix(seen[tag], 0, len(seen[tag]), found) != 0
    assert suffix(text, 0, len(text), found) == 0


def test_no_address_gives_nothing():
    found = blocklists.Blocked(Pile().done(), Pile().done())
    places = look_up(*column([]), found)
    assert [len(place_D) for place_D in places] == [0, 0]
    assert not np.any(look_up(*column(["", "http://a.example/"]), found))
