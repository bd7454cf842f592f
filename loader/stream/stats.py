"""What a stream measured of itself: how much it delivered, and how long its consumer waited for it."""

from dataclasses import dataclass


@dataclass
class Stats:
    """Counters since the stream was made.

    Attributes:
        num_batches: batches delivered to this rank.
        num_tokens: input tokens in them.
        stall_s: time the consumer waited for a batch.
        busy_s: time the consumer held the floor, from one batch to its next request.
    """

    num_batches: int = 0
    num_tokens: int = 0
    stall_s: float = 0.0
    busy_s: float = 0.0

    def count(self, num_tokens: int, *, stall_s: float) -> None:
        """Count one batch delivered after a wait."""
        self.num_batches += 1
        self.num_tokens += num_tokens
        self.stall_s += stall_s

    def report(self) -> dict[str, float]:
        """Give counters and rates.

        Returns:
            `batches`, `tokens`, `elapsed_s` (stall + busy), `stall_s`, `stall_fraction` (of elapsed),
            `tokens_per_s` (achieved) and `required_tokens_per_s`: what this consumer would take if it never waited.
            Rates are 0.0 while nothing was measured.

        >>> Stats(num_batches=2, num_tokens=30, stall_s=1.0, busy_s=2.0).report()["required_tokens_per_s"]
        15.0
        """
        elapsed_s = self.stall_s + self.busy_s
        return {
            "batches": self.num_batches,
            "tokens": self.num_tokens,
            "elapsed_s": elapsed_s,
            "stall_s": self.stall_s,
            "stall_fraction": self.stall_s / elapsed_s if elapsed_s else 0.0,
            "tokens_per_s": self.num_tokens / elapsed_s if elapsed_s else 0.0,
            "required_tokens_per_s": self.num_tokens / self.busy_s if self.busy_s else 0.0,
        }
