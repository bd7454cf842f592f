"""The built-in demo: a real corpus made of installed packages, and the recipe that takes it to shards."""
