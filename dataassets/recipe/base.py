"""What every model of the recipe shares: frozen, nothing unknown."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)
