"""The one error of this room."""


class ComputeError(RuntimeError):
    """Work that could not be done for a reason that lies in the machine, not in the data."""
