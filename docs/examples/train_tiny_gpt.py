"""Train a tiny GPT on finished shards, with nothing but torch and the loader.

    python train_tiny_gpt.py --data data/mixed/pretrain --steps 50 --checkpoint ckpt.pt --checkpoint-at 25
    python train_tiny_gpt.py --data data/mixed/pretrain --steps 50 --resume ckpt.pt
    torchrun --nproc-per-node 2 -- train_tiny_gpt.py --data data/mixed/pretrain --steps 50

On the CPU a resumed run is bit-identical to one that was never stopped: same batches, same losses.
(The `--` keeps torchrun from reading `--log` as an option of its own.)
"""

import argparse
import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from loader import Loader, LoaderError, TokenDataset


class Block(nn.Module):
    """Causal attention, then a small MLP, each added to what came in."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norm_attention, self.norm_mlp = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x_BTD: Tensor) -> Tensor:
        batch, seq_len, dim = x_BTD.shape
        heads = self.qkv(self.norm_attention(x_BTD)).view(batch, seq_len, 3, self.num_heads, dim // self.num_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x_BTD = x_BTD + self.out(mixed.transpose(1, 2).reshape(batch, seq_len, dim))
        return x_BTD + self.mlp(self.norm_mlp(x_BTD))


class TinyGPT(nn.Module):
    """Two layers; the output layer is the embedding itself (tied), so most parameters serve twice."""

    def __init__(self, vocab_size: int, seq_len: int, dim: int = 64, num_layers: int = 2, num_heads: int = 4) -> None:
        super().__init__()
        self.tokens = nn.Embedding(-(-vocab_size // 64) * 64, dim)  # padded: matrix products like round sizes
        self.places = nn.Embedding(seq_len, dim)
        self.blocks = nn.Sequential(*(Block(dim, num_heads) for _ in range(num_layers)))
        self.norm = nn.LayerNorm(dim)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, input_ids: Tensor, labels: Tensor) -> Tensor:
        x_BTD = self.tokens(input_ids) + self.places.weight[: input_ids.shape[1]]
        return TiedLoss.apply(self.norm(self.blocks(x_BTD)).flatten(0, 1), self.tokens.weight, labels.view(-1))


class TiedLoss(torch.autograd.Function):
    """cross_entropy(x @ weight.T, labels), 128 rows at a time: all logits at once would be 200 MB of page faults.

    The gradients are found on the way, since softmax minus one-hot is all they need.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, x_ND: Tensor, weight_VD: Tensor, labels_N: Tensor) -> Tensor:
        num = len(labels_N)
        x_grads, weight_grad, loss = [], torch.zeros_like(weight_VD), x_ND.new_zeros(())
        for x, labels in zip(x_ND.split(128), labels_N[:, None].split(128), strict=True):
            chances = (x @ weight_VD.T).softmax(1)
            loss -= chances.gather(1, labels).log().sum()
            chances.scatter_add_(1, labels, chances.new_full(labels.shape, -1.0))
            x_grads.append(chances @ weight_VD)
            weight_grad.addmm_(chances.T, x)
        ctx.save_for_backward(torch.cat(x_grads) / num, weight_grad / num)
        return loss / num

    @staticmethod
    def backward(ctx: FunctionCtx, loss_grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x_grad, weight_grad = ctx.saved_tensors
        return x_grad * loss_grad, weight_grad * loss_grad, None


def main() -> None:
    options = parse_arguments()
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(options.threads)
    device = start_processes()
    torch.manual_seed(options.seed)
    train = TokenDataset(options.data, split="train", seq_len=options.seq_len)
    batches = Loader(train, batch_size=options.batch_size, seed=options.seed, device=device)
    model: nn.Module = TinyGPT(train.vocab_size, options.seq_len).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step = load(options.resume, model, optimizer, batches) if options.resume else 0
    stepped = DistributedDataParallel(model) if dist.is_initialized() else model
    with open_log(options, resumed=step > 0) as log:
        for batch in endless(batches):
            if step >= options.steps:
                break
            start_s = time.perf_counter()
            loss = stepped(**batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            tokens_per_s = batches.world_size * batch["labels"].numel() / (time.perf_counter() - start_s)
            tell(log, step, batch, mean(loss.detach()), tokens_per_s=tokens_per_s)
            if step == options.checkpoint_at and batches.rank == 0:
                save(options.checkpoint, step, model, optimizer, batches)
    if dist.is_initialized():
        dist.destroy_process_group()


def endless(batches: Loader) -> Iterator[dict[str, Tensor]]:
    """Epoch after epoch: each `for` over a Loader runs to the end of an epoch, the next one begins the next."""
    while True:
        yield from batches


def start_processes() -> torch.device:
    """Under torchrun join the other ranks; the Loader then finds its rank by itself."""
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")
    if cuda:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.cuda.set_device(device)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        dist.init_process_group("nccl" if cuda else "gloo")
    return device


def mean(loss: Tensor) -> float:
    """The loss over all ranks."""
    if dist.is_initialized():
        dist.all_reduce(loss)
        loss /= dist.get_world_size()
    return float(loss.item())


def tell(log: IO[str] | None, step: int, batch: dict[str, Tensor], loss: float, *, tokens_per_s: float) -> None:
    """Write one line: the loss to the last bit, and a hash of the batch it came from."""
    if log is None:
        return
    digest = hashlib.sha256()
    for name in ("input_ids", "labels"):
        digest.update(batch[name].cpu().numpy().tobytes())
    line = {"step": step, "loss": loss, "loss_hex": loss.hex(), "batch_sha256": digest.hexdigest()}
    log.write(json.dumps({**line, "tokens_per_s": round(tokens_per_s)}) + "\n")
    log.flush()


def save(file: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, batches: Loader) -> None:
    """Write a checkpoint; it is whole or absent, whenever the process is killed."""
    state = {
        "step": step,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "batches": batches.state_dict(),
        "rng": torch.get_rng_state(),
    }
    part = file.with_name(file.name + ".part")
    torch.save(state, part)
    part.replace(file)
    # For people: `dataassets explain DIR --state checkpoint.state.json` tells which documents a step was made of.
    file.with_suffix(".state.json").write_text(json.dumps(state["batches"]), encoding="utf-8")


def load(file: Path, model: nn.Module, optimizer: torch.optim.Optimizer, batches: Loader) -> int:
    """Take up a checkpoint; returns the steps done. Any number of ranks may go on from it."""
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    batches.load_state_dict(state["batches"])
    torch.set_rng_state(state["rng"])
    return int(state["step"])


def open_log(options: argparse.Namespace, *, resumed: bool) -> contextlib.AbstractContextManager[IO[str] | None]:
    """The log of rank 0, on stdout where no file is named; a resumed run adds to its file."""
    if int(os.environ.get("RANK", "0")) > 0:
        return contextlib.nullcontext()
    if options.log is None:
        return contextlib.nullcontext(sys.stdout)
    return options.log.open("a" if resumed else "w")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a tiny GPT on finished shards.")
    parser.add_argument("--data", required=True, help="mixed/<mix>, or the folder of one build")
    parser.add_argument("--steps", type=int, default=50, help="optimizer steps in all, those before a resume included")
    parser.add_argument("--batch-size", type=int, default=8, help="rows of each rank and step")
    parser.add_argument("--seq-len", type=int, default=128, help="tokens of a row")
    parser.add_argument("--checkpoint", type=Path, help="file to write a checkpoint to")
    parser.add_argument("--checkpoint-at", type=int, metavar="STEP", help="write it after this step (default: last)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="checkpoint to go on from")
    parser.add_argument("--log", type=Path, metavar="FILE", help="JSON lines, one a step (default: stdout)")
    parser.add_argument("--seed", type=int, default=1, help="of the weights and of the order of the data")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of torch; part of what is bit-identical")
    options = parser.parse_args()
    if options.checkpoint_at is not None and options.checkpoint is None:
        parser.error("--checkpoint-at needs --checkpoint FILE")
    if options.checkpoint is not None and options.checkpoint_at is None:
        options.checkpoint_at = options.steps
    return options


if __name__ == "__main__":
    try:
        main()
    except LoaderError as error:
        sys.exit(f"train_tiny_gpt: {error}")
