"""The gate between passes: full speed, slow motion, step by step."""

import threading
import time

import pytest
from scripted_engine import ScriptedEngine
from test_runner import desk_over, wait

from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, Limits, SpeculativeSettings
from clover_viz.ui.runs import pacing
from clover_viz.ui.runs.pacing import Pacing
from clover_viz.ui.runs.runner import Run


def run_at(engine, speed, settings=None, desk=None):
    run = Run(desk or desk_over(engine), [{"role": "user", "content": "go"}], settings or DenoiseSettings(), Limits(),
              speed=speed)  # fmt: skip
    run.start()
    return run


def passes(run):
    return sum('"ms"' in line for line in run._records)


@pytest.mark.parametrize("settings", [DenoiseSettings(), SpeculativeSettings(), AutoregressiveSettings()])
def test_step_by_step_does_one_pass_at_a_press(settings):
    run = run_at(ScriptedEngine("word " * 200, pace=1e4), "step", settings)
    for number in range(1, 6):
        wait(lambda: run.pacing.held)
        before = passes(run)
        time.sleep(0.15)
        assert passes(run) == before and run.state == "running"
        run.pacing.next()
        wait(lambda before=before: passes(run) == before + 1)
    run.pacing.set("full")
    assert run.done.wait(5) and run.state == "finished" and not run.pacing.held


def test_presses_do_not_pile_up():
    run = run_at(ScriptedEngine("word " * 30, pace=1e4), "step")
    wait(lambda: run.pacing.held)
    before = passes(run)
    for _ in range(5):
        run.pacing.next()
    wait(lambda: passes(run) > before and run.pacing.held)
    time.sleep(0.15)
    assert passes(run) == before + 1
    run.cancel()


def test_stop_ends_a_held_run_without_another_pass():
    engine = ScriptedEngine("word " * 30, pace=1e4)
    run = run_at(engine, "step")
    wait(lambda: run.pacing.held)
    before = engine.passes
    run.cancel()
    assert run.done.wait(2) and run.state == "stopped"
    assert passes(run) == engine.passes == before


def test_slow_motion_waits_between_passes(monkeypatch):
    monkeypatch.setattr(pacing, "SLOW", 0.3)
    run = run_at(ScriptedEngine("word " * 30, pace=1e4), "slow")
    wait(lambda: passes(run) >= 1)
    began, before = time.monotonic(), passes(run)
    wait(lambda: passes(run) >= before + 3)
    assert time.monotonic() - began > 0.6  # three gates, the first of them perhaps half over
    assert not run.pacing.held
    run.pacing.set("full")
    assert run.done.wait(5)


def test_a_held_run_goes_on_by_itself_once_others_wait(monkeypatch):
    monkeypatch.setattr(pacing, "PATIENCE", 0.3)
    engine = ScriptedEngine("word " * 30, pace=1e4)
    desk = desk_over(engine)
    held = run_at(engine, "step", desk=desk)
    wait(lambda: held.pacing.held)
    time.sleep(0.5)
    assert held.pacing.held  # nobody waits: no hurry
    other = run_at(engine, "full", desk=desk)
    assert held.done.wait(5) and other.done.wait(5)
    assert held.state == other.state == "finished" and "Others wait" in held.pacing.note


def test_slow_motion_gives_way_too_and_only_while_others_wait(monkeypatch):
    monkeypatch.setattr(pacing, "PATIENCE", 0.3)
    engine = ScriptedEngine("word " * 30, pace=1e4)
    desk = desk_over(engine)
    slow = run_at(engine, "slow", desk=desk)  # thirty passes at 0.8 s
    wait(lambda: passes(slow) >= 1)
    assert slow.pacing.speed == "slow" and not slow.pacing.note
    other = run_at(engine, "full", desk=desk)
    assert other.done.wait(5) and slow.state == "finished"
    assert slow.pacing.speed == "full" and "Others wait" in slow.pacing.note


def test_patience_is_counted_over_the_whole_run(monkeypatch):
    """Else a press within every twenty seconds would hold the engine for ever."""
    monkeypatch.setattr(pacing, "PATIENCE", 0.25)
    monkeypatch.setattr(pacing, "SLOW", 0.15)
    gate = Pacing("slow", threading.Event(), lambda: True)
    for _ in range(5):
        gate.gate()
    assert gate.speed == "full"


def test_an_unknown_speed_is_refused_and_changes_nothing():
    gate = Pacing("slow", threading.Event(), lambda: False)
    with pytest.raises(ValueError, match="speed must be one of full, slow, step, got 'warp'"):
        gate.set("warp")
    assert gate.speed == "slow"
