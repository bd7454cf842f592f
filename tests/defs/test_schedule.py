"""The schedule: a tick takes in the snapshot that closed last, one run for each source; before that it skips."""

import datetime as dt
from pathlib import Path

import dagster as dg
import pytest
from dagster._utils.schedules import cron_string_iterator

from dataassets.defs.automation import INTAKE
from dataassets.recipe import Located, parse
from dataassets.runner import Work

# Dagster's own tags of a multi-partition, dagster/partition/snapshot, are not what its own rule for tags allows.
pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")


@pytest.fixture(scope="module")
def defs_of(definitions_of):
    """Definitions of a recipe without an end."""

    def made(cadence, start):
        recipe = {
            "root": "/nowhere",
            "snapshots": {"start": start, "end": None, "cadence": cadence},
            "sources": {
                "web": {"format": "warc", "paths": ["web/{snapshot}/*.warc.gz"]},
                "books": {"format": "text", "paths": ["books/*.txt"]},
            },
        }
        return definitions_of(Work(Located(parse(recipe, where="test"), Path("/nowhere/recipe.yaml"))))

    return made


def tick(defs, moment):
    context = dg.build_schedule_context(
        scheduled_execution_time=dt.datetime.fromisoformat(moment), repository_def=defs.get_repository_def()
    )
    return defs.get_repository_def().get_schedule_def("closed_snapshot").evaluate_tick(context)


# Starts lie in the past, so that the windows are there whenever this runs.
@pytest.mark.parametrize(
    ("cadence", "start", "moment", "closed"),
    [
        ("monthly", "2024-01-01", "2024-02-01T03:00+00:00", "2024-01-01"),
        ("monthly", "2024-01-01", "2024-03-01T03:00+00:00", "2024-02-01"),
        ("monthly", "2024-01-01", "2025-01-01T03:00+00:00", "2024-12-01"),
        ("monthly", "2024-01-01", "2024-03-31T23:59+00:00", "2024-02-01"),
        ("weekly", "2024-01-07", "2024-01-14T03:00+00:00", "2024-01-07"),
        ("weekly", "2024-01-07", "2024-03-03T03:00+00:00", "2024-02-25"),
        ("daily", "2024-02-28", "2024-03-01T03:00+00:00", "2024-02-29"),
        ("daily", "2024-02-28", "2024-02-29T03:00+00:00", "2024-02-28"),
    ],
)
def test_a_tick_requests_one_run_a_source_of_the_snapshot_that_closed_last(defs_of, cadence, start, moment, closed):
    defs = defs_of(cadence, start)
    requests = tick(defs, moment).run_requests
    assert [str(r.partition_key) for r in requests] == [f"{closed}|web", f"{closed}|books"]
    assert len({r.run_key for r in requests}) == 2
    for request in requests:
        assert (request.tags["dagster/partition/snapshot"], request.tags["dagster/partition/source"]) == tuple(
            request.partition_key.split("|")
        )


@pytest.mark.parametrize(
    ("cadence", "start", "moment"),
    [
        ("monthly", "2024-01-01", "2024-01-01T03:00+00:00"),
        ("monthly", "2024-01-01", "2024-01-31T23:59+00:00"),
        ("weekly", "2024-01-07", "2024-01-13T23:59+00:00"),
        ("daily", "2024-01-07", "2024-01-07T23:59+00:00"),
    ],
)
def test_before_the_first_snapshot_has_closed_a_tick_skips_and_says_so(defs_of, cadence, start, moment):
    told = tick(defs_of(cadence, start), moment)
    assert told.run_requests == []
    assert told.skip_message == "no snapshot has closed yet"


@pytest.mark.parametrize(
    ("cadence", "start", "first", "second"),
    [
        ("monthly", "2024-01-01", "2024-02-01T03:00:00+00:00", "2024-03-01T03:00:00+00:00"),
        ("weekly", "2024-01-07", "2024-01-14T03:00:00+00:00", "2024-01-21T03:00:00+00:00"),
        ("daily", "2024-01-07", "2024-01-08T03:00:00+00:00", "2024-01-09T03:00:00+00:00"),
    ],
)
def test_it_ticks_after_each_close_so_that_no_snapshot_is_left_out(defs_of, cadence, start, first, second):
    defs = defs_of(cadence, start)
    schedule = defs.get_repository_def().get_schedule_def("closed_snapshot")
    after_start = dt.datetime.fromisoformat(start).replace(hour=4, tzinfo=dt.UTC)
    found = cron_string_iterator(after_start.timestamp(), schedule.cron_schedule, schedule.execution_timezone)
    assert [next(found).isoformat() for _ in range(2)] == [first, second]
    snapshots = [tick(defs, moment).run_requests[0].partition_key.split("|")[0] for moment in (first, second)]
    assert snapshots == sorted(set(snapshots))
    assert snapshots[0] == start


def test_its_job_takes_in_raw_to_signatures_and_the_sensor_carries_on_with_the_rest(defs_of):
    defs = defs_of("monthly", "2024-01-01")
    job = defs.resolve_job_def("intake")
    assert {key.to_user_string() for key in job.asset_layer.executable_asset_keys} == set(INTAKE)
    graph = defs.resolve_asset_graph()
    followers = {k.to_user_string() for k in graph.get_all_asset_keys() if graph.get(k).automation_condition}
    assert followers == {"duplicates", "deduped", "tokenized", "mixed"}
    schedule = defs.get_repository_def().get_schedule_def("closed_snapshot")
    sensor = defs.get_repository_def().get_sensor_def("carry_on")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    assert sensor.default_status == dg.DefaultSensorStatus.STOPPED
