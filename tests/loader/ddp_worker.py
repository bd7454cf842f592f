"""One rank of the torchrun tests: reads batches as a training would, and writes down what it got."""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from loader import Loader, TokenDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--save-at", type=int)
    parser.add_argument("--load", type=Path)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    batches = Loader(TokenDataset(options.data, seq_len=32), batch_size=options.batch_size, seed=5)
    assert (batches.rank, batches.world_size) == (dist.get_rank(), dist.get_world_size())
    if options.load:
        batches.load_state_dict(json.loads(options.load.read_text()))
    rows = []
    for batch in batches:
        total = batch["input_ids"].sum()
        dist.all_reduce(total)  # a collective a step: ranks with unequal numbers of steps would hang here
        rows.append(batch["input_ids"])
        if batches.step == options.save_at:
            (options.out / f"state{batches.rank}.json").write_text(json.dumps(batches.state_dict()))
    np.save(options.out / f"rank{batches.rank}.npy", torch.stack(rows).numpy())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
