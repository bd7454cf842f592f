"""How units of work run: inline or in worker processes; map over units, and exchange rows between them."""

from dataassets.compute.exchange import exchange
from dataassets.compute.executor import ComputeError, Executor, Kind

__all__ = ["ComputeError", "Executor", "Kind", "exchange"]
