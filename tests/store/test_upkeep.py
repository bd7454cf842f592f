"""`verify` finds every damage and calls nothing else damage; `garbage` lists what nothing lives on."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store.products import KEY, committed, made

from dataassets.store import ManifestError, Store, garbage, verify
from dataassets.store.layout import folder

BOOKS = "2026-10-01|books"


@pytest.fixture
def built(store):
    committed(store, "filtered", KEY)
    committed(store, "filtered", BOOKS)
    committed(store, "duplicates", "2026-10-01")
    committed(store, "tokenized", KEY)
    committed(store, "mixed", "pretrain")
    return store


def found(root, kind):
    return {f.name: f.note for f in verify(root) if f.kind == kind}


def test_a_sound_root_is_sound_and_every_file_is_read_once(built):
    sizes = []
    findings = list(verify(built.files.root, tick=sizes.append))
    assert {f.kind for f in findings} == {"ok"}
    assert sorted(f.name for f in findings) == built.files.walk()
    rest = [n for n in built.files.walk() if n.rsplit("/")[-1] in ("manifest.json", "latest")]
    assert sum(sizes) == sum(map(built.files.size, built.files.walk())) - sum(map(built.files.size, rest))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_any_file_is_found_and_named(built, data):
    name = data.draw(st.sampled_from([n for n in built.files.walk() if built.files.size(n)]))
    sound = built.files.read(name)
    how = data.draw(st.sampled_from(["flip", "cut", "grow", "remove"]))
    if name.endswith("manifest.json") and how == "remove":  # then there is no product, and its files are strays
        how = "flip"
    at = data.draw(st.integers(0, len(sound) - 1))
    if how == "remove" and not name.endswith("latest"):
        built.files.remove(name)
    elif how == "cut":
        built.files.write(name, sound[:at])
    elif how == "grow" and not name.endswith("latest"):
        built.files.write(name, sound + b"\0")
    elif not (name.endswith("latest") and at == len(sound) - 1):
        built.files.write(name, sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
    changed = not built.files.exists(name) or built.files.read(name).strip() != sound.strip()
    damaged = found(built.files.root, "damaged")
    built.files.write(name, sound)
    assert list(damaged) == ([name] if changed else [])
    assert found(built.files.root, "damaged") == {}


def test_notes_tell_what_was_met_and_wanted(built):
    names = [n for n in built.files.walk("filtered") if n.endswith(".parquet")]
    built.files.write(names[0], built.files.read(names[0])[:-7])
    built.files.remove(names[1])
    built.files.write("mixed/pretrain/latest", b"0a0a0a0a\n")
    notes = found(built.files.root, "damaged")
    size = built.files.size(names[0])
    assert notes[names[0]] == f"{size} bytes, wanted {size + 7}"
    assert notes[names[1]].startswith("missing; ")
    assert notes["mixed/pretrain/latest"] == "names '0a0a0a0a', where no manifest lies"


def test_strays_are_no_damage(built):
    built.files.write("filtered/notes.txt", b"mine")
    built.files.write(".work/raw/snapshot=2026-10-01/source=web/0a/unit-00000.json", b"{}")
    built.files.write("failed/raw/snapshot=2026-10-01/report.json", b"{}")
    assert found(built.files.root, "stray") == {"filtered/notes.txt": "no manifest names it"}
    assert found(built.files.root, "damaged") == {}


@pytest.mark.parametrize("below", ["", "/", "/filtered", "/filtered/snapshot=2026-10-01/source=web/"])
def test_any_folder_with_manifests_can_be_verified_and_what_it_dropped_with_it(built, below):
    dropped = [n for n in built.files.walk("dropped") if "filtered" in n and "source=web" in n]
    assert set(found(built.files.root + below, "damaged")) == set()
    assert set(found(built.files.root + below, "stray")) == set()
    built.files.write(dropped[0], b"other")
    assert len(found(built.files.root + below, "damaged")) == 1


@pytest.mark.parametrize("below", ["/dropped", "/nowhere", "/failed"])
def test_a_folder_without_manifests_is_an_error(built, below):
    with pytest.raises(ManifestError, match=r"holds no manifest\.json; name the recipe's root, a product"):
        list(verify(built.files.root + below))


KEEP = {folder("filtered", KEY), folder("duplicates", "2026-10-01"), folder("tokenized", KEY), "mixed/pretrain"}


def live(store):
    """Every file that a manifest of the recipe's partitions names, and these manifests."""
    places = [("filtered", KEY), ("duplicates", "2026-10-01"), ("tokenized", KEY), ("mixed", "pretrain")]
    names = {"mixed/pretrain/latest"}
    for product, partition in places:
        top = store.folder(product, partition)
        dropped = f"dropped/stage={product}/{top.partition('/')[2]}"
        names |= set(store.files.walk(top)) | set(store.files.walk(dropped))
    return names


def test_garbage_is_all_of_ours_that_is_not_live(built):
    wanted = live(built)
    committed(built, "mixed", "tuning")  # a mix that the recipe no longer has
    old = set(built.files.walk("mixed/pretrain")) - {"mixed/pretrain/latest"}
    committed(built, "mixed", "pretrain", version="2")  # the folder before it is old now
    wanted = (wanted - old) | live(built)
    wanted -= old
    made(built, "raw", KEY)  # work that was never finished
    others = {"recipe.yaml", "raw/scan.txt", "mixed/README", ".dagster/history.db", "notes/snapshot=1/x"}
    for name in (*others, "failed/raw/snapshot=2026-10-01/source=web/report.json"):
        built.files.write(name, b"x")
    listed = set(garbage(built.files.root, keep=KEEP))
    failed = {"failed/raw/snapshot=2026-10-01/source=web/report.json"}
    assert listed == set(built.files.walk()) - wanted - others - failed
    tops = {"mixed", "raw", "filtered", "dropped", ".work"}
    assert {n.split("/")[0] for n in listed} == tops
    for name in listed:
        built.files.remove(name)
    assert garbage(built.files.root, keep=KEEP) == []
    assert found(built.files.root, "damaged") == {}
    assert set(built.files.walk()) == wanted | others | failed


def test_nothing_is_garbage_where_the_recipe_has_it_all(built):
    assert garbage(built.files.root, keep={*KEEP, folder("filtered", BOOKS)}) == []


def test_a_root_in_memory_itself_can_be_verified():
    store = Store.at("memory://")
    committed(store, "filtered", KEY)
    try:
        own = {f.name: f.kind for f in verify("memory://") if f.name.startswith(("filtered/", "dropped/"))}
        assert set(own) == {*store.files.walk("filtered"), *store.files.walk("dropped")}
        assert set(own.values()) == {"ok"}
    finally:
        store.files.remove_folder("filtered")
        store.files.remove_folder("dropped")
