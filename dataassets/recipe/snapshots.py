"""Snapshots: windows of time on a fixed cadence, named by their first day."""

import datetime as dt
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dataassets.recipe.base import Model

Cadence = Literal["daily", "weekly", "monthly"]


def next_start(day: dt.date, *, cadence: Cadence) -> dt.date:
    """The first day of the window after the one that starts on `day`.

    >>> next_start(dt.date(2026, 12, 1), cadence="monthly")
    datetime.date(2027, 1, 1)
    """
    if cadence == "monthly":
        return (day.replace(day=1) + dt.timedelta(days=32)).replace(day=1)
    return day + dt.timedelta(days=7 if cadence == "weekly" else 1)


def aligned(day: dt.date, *, cadence: Cadence) -> dt.date:
    """The first day of the window that holds `day`: a month's first, a week's Sunday (as Dagster has it), the day.

    >>> aligned(dt.date(2026, 10, 15), cadence="monthly")
    datetime.date(2026, 10, 1)
    """
    if cadence == "monthly":
        return day.replace(day=1)
    if cadence == "weekly":
        return day - dt.timedelta(days=(day.weekday() + 1) % 7)
    return day


class Snapshots(Model):
    """The windows that the corpus is cut into."""

    start: dt.date = Field(description="first day of the first snapshot, e.g. 2026-10-01")
    end: dt.date | None = Field(
        None, description="first day of the last snapshot, inclusive; null: the last closed one"
    )
    cadence: Cadence = Field("monthly", description="daily, weekly (from Sunday) or monthly")

    @field_validator("start", "end", mode="before")
    @classmethod
    def _is_a_date(cls, value: object, info: ValidationInfo) -> object:
        """Pydantic would take numbers, also those in quotes, as seconds since 1970."""
        if isinstance(value, dt.date) or (value is None and info.field_name == "end"):
            return value
        try:
            return dt.date.fromisoformat(str(value) if isinstance(value, str) else "")
        except ValueError:
            raise ValueError(f'{info.field_name} = {value} is no date; write one as "2026-10-01"') from None

    @model_validator(mode="after")
    def _on_the_cadence(self) -> "Snapshots":
        problems = []
        for name, day in (("start", self.start), ("end", self.end)):
            if day is not None and day != (want := aligned(day, cadence=self.cadence)):
                after = next_start(want, cadence=self.cadence)
                first = "a Sunday" if self.cadence == "weekly" else "the first of a month"
                problems.append(
                    f"{name} = {day} is not the first day of a {self.cadence} window, {first}; take {want} or {after}"
                )
        if self.end is not None and self.end < self.start:
            problems.append(f"end = {self.end} is before start = {self.start}; take {self.start} or later")
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def keys(self, *, today: dt.date) -> list[str]:
        """Names of all snapshots, oldest first: those up to `end`, or those that closed before `today`.

        >>> Snapshots(start="2026-09-01").keys(today=dt.date(2026, 11, 21))
        ['2026-09-01', '2026-10-01']
        """
        names, day = [], self.start
        while day <= self.end if self.end is not None else next_start(day, cadence=self.cadence) <= today:
            names.append(day.isoformat())
            day = next_start(day, cadence=self.cadence)
        return names


class Between(Model):
    """A range of snapshots, both ends inclusive."""

    from_: str | None = Field(None, alias="from", description="first snapshot")
    to: str | None = Field(None, description="last snapshot")

    @field_validator("from_", "to", mode="before")
    @classmethod
    def _name_of_a_date(cls, value: object) -> object:
        """YAML reads a name of a snapshot that is not quoted as a date."""
        return value.isoformat() if isinstance(value, dt.date) else value

    @model_validator(mode="after")
    def _holds_something(self) -> "Between":
        if self.from_ and self.to and self.to < self.from_:
            raise ValueError(f"to = {self.to} is before from = {self.from_}; take {self.from_} or later")
        return self
