"""A checkpoint's generation config: penalties in every spelling, and the report of those that are not read."""

import logging

import pytest
from scripted import END, ScriptedModel, engine

from clover_viz.generation_config import penalties

# as transformers writes them, with what is off by default
ORDINARY = {
    "temperature": 0.7, "top_p": 0.9, "top_k": 20, "eos_token_id": [1, 2], "pad_token_id": 0,
    "transformers_version": "5.0.0", "do_sample": True, "length_penalty": 1.0, "diversity_penalty": 0.0,
    "encoder_repetition_penalty": 1.0, "penalty_alpha": 0.6, "sequence_bias": None, "no_repeat_ngram_size": 0,
    "exponential_decay_length_penalty": None, "watermarking_config": None, "repetition_penalty": None,
}  # fmt: skip


@pytest.mark.parametrize(
    "generation, found, unread",
    [
        ({}, {}, []),
        (ORDINARY, {}, []),
        ({"repetition_penalty": 1.05}, {"repetition_penalty": 1.05}, []),
        ({"response_repetition_penalty": 1.1}, {"repetition_penalty": 1.1}, []),
        ({"response_only_presence_penalty": 0.5}, {"presence_penalty": 0.5}, []),
        ({"penalties": {"presence_penalty": 0.3}}, {"presence_penalty": 0.3}, []),
        ({"penalties": {"repetition": 1.2, "presence": 0.1, "frequency": 0.2}},
         {"repetition_penalty": 1.2, "presence_penalty": 0.1, "frequency_penalty": 0.2}, []),
        ({"response_penalties": {"frequency_penalty": -0.5}}, {"frequency_penalty": -0.5}, []),
        ({"stop_bias": 2, "long_generation": {"think_close_bias": 3}}, {"stop_bias": 2, "think_close_bias": 3}, []),
        # the flat one goes first, and the response's own before transformers'; null is no value
        ({"penalties": {"presence": 0.3}, "presence_penalty": 0.4}, {"presence_penalty": 0.4}, ["penalties.presence"]),
        ({"repetition_penalty": 1.05, "response_repetition_penalty": 1.1}, {"repetition_penalty": 1.1},
         ["repetition_penalty"]),
        ({"response_presence_penalty": None, "presence_penalty": 0.4}, {"presence_penalty": 0.4}, []),
        # what is not understood is told
        ({"penalties": {"window": 64}}, {}, ["penalties.window"]),
        ({"eos_bias": 2.0, "presense_penalty": 0.5}, {}, ["eos_bias", "presense_penalty"]),
        ({"answer": {"presence_penalty": 0.5, "tokens": 9}}, {}, ["answer.presence_penalty"]),
        ({"presence_penalty": {"value": 0.5}}, {}, ["presence_penalty.value"]),
        ({"exponential_decay_length_penalty": [100, 1.1]}, {}, ["exponential_decay_length_penalty"]),
    ],
)  # fmt: skip
def test_penalties_in_every_spelling(generation, found, unread):
    assert penalties(generation) == (found, unread)


def test_the_engine_takes_them_and_tells_what_it_does_not_read(caplog):
    given = {"response_repetition_penalty": 1.1, "penalties": {"presence_penalty": 0.3, "decay": 0.9}, "eos_bias": 1}
    with caplog.at_level(logging.WARNING, "clover_viz"):
        started = next(engine(ScriptedModel([END]), given).generate("hi"))
    assert (started.settings["repetition_penalty"], started.settings["presence_penalty"]) == (1.1, 0.3)
    said = "generation_config.json: penalties and biases that are not read: penalties.decay, eos_bias"
    assert [record.getMessage() for record in caplog.records] == [said]


def test_the_keys_of_transformers_are_no_matter_of_ours(caplog):
    with caplog.at_level(logging.WARNING, "clover_viz"):
        engine(ScriptedModel([END]), ORDINARY)
    assert caplog.records == []
