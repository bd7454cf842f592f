"""How units of work run: here, in worker processes or on a Ray cluster; map over units, exchange rows between them."""

from dataassets.compute.errors import ComputeError
from dataassets.compute.exchange import exchange
from dataassets.compute.executor import Executor, Kind

__all__ = ["ComputeError", "Executor", "Kind", "exchange"]
