"""What the log says of a model that could not be loaded: a line for a bad value, a traceback for a fault of ours."""

import threading

import pytest

from clover_viz.errors import UserError
from clover_viz.ui.runs.desk import Desk


@pytest.mark.parametrize(
    "problem, line, traced",
    [
        (UserError("model 'nowhere' is\nneither"), "loading nowhere failed: model 'nowhere' is neither", False),
        (ValueError("no shape"), "loading nowhere failed", True),
        (KeyError("layers"), "loading nowhere failed", True),
    ],
)
def test_a_load_that_fails_is_logged(caplog, problem, line, traced):
    def load():
        raise problem

    desk = Desk(load, "nowhere")
    assert desk._loaded.wait(5) and desk.state == "failed"
    (record,) = caplog.records
    assert (record.levelname, record.getMessage(), bool(record.exc_info)) == ("ERROR", line, traced)
    with pytest.raises(RuntimeError, match="the model could not be loaded: "), desk.turn(threading.Event()):
        pass
