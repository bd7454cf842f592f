"""Scripts of peers run in environments of their own; nothing of ours imports them."""

collect_ignore = ["peers"]
