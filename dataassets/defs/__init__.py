"""Dagster, and Dagster alone: assets, checks, partitions, metadata, schedules. What they do is done by the runner."""
