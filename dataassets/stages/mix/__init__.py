"""Tokenized sources to one mixture: planned exactly, shuffled as a whole, cut into shards."""

from dataassets.stages.mix.model import Available, Picks, Plan, ShardPlan, SourcePlan
from dataassets.stages.mix.planning import plan
from dataassets.stages.mix.shuffling import gather, scatter

__all__ = ["Available", "Picks", "Plan", "ShardPlan", "SourcePlan", "gather", "plan", "scatter"]
