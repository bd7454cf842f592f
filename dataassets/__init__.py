"""The data road for LLM pre-training: raw crawl to mixed token shards, as partitioned Dagster assets."""
