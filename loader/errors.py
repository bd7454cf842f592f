"""One error tree: whatever the loader refuses is a LoaderError, and a LoaderError is a ValueError.

A message names the file or argument, the value met, the value wanted, and the mend.
"""


class LoaderError(ValueError):
    """The root: catch this to catch all that the loader refuses."""


class ManifestError(LoaderError):
    """A manifest that is not canonical, not whole, or not of a known version."""


class ShardError(LoaderError):
    """A shard whose bytes do not fit each other, or tokens that no shard can hold."""


class DatasetError(LoaderError):
    """A path that holds no such data set or split, or whose files are not those of its manifest."""


class StateError(LoaderError):
    """A saved state that is malformed, or was saved over other data or in another order."""


class SettingError(LoaderError):
    """An argument with a value that is wrong, or not available yet."""
