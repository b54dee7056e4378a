"""Our own methods beside the peers: the model that they are all given is read, and stays the same."""

from __future__ import annotations

from benchmarks.peers.ours import as_pipeline, recourse_of
from benchmarks.world import world
from p2c._learn.model import Read


def test_the_model_of_a_world_is_read_and_its_plans_are_proved() -> None:
    cars = world("cars")
    recourse = recourse_of(cars)
    assert isinstance(recourse.reading, Read)
    for person in cars.people[:3]:
        answer = recourse.plan(person)
        assert answer.optimal
        assert answer.end is not None
        assert cars.model.accepts(answer.end)


def test_a_pipeline_gives_the_same_probabilities_as_the_model_that_the_peers_are_asked_with() -> (
    None
):
    cars = world("cars")
    frame = cars.frame.astype(str)
    ours = as_pipeline(cars, frame).predict_proba(frame)
    assert (ours == cars.model.predict_proba(cars.frame)).all()
