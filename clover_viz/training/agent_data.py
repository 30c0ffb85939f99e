"""Agent traffic: tools in the system turn, requests, JSON calls, results and what is said about them."""

from __future__ import annotations

import json
import random
from itertools import accumulate

from clover_viz.training import words
from clover_viz.training.talk import small_talk
from clover_viz.training.tools import Tool, ToolKind, tool_kinds
from clover_viz.training.turn import Turn
from clover_viz.training.values import Values
from clover_viz.training.wordings import vary

HEADS = ("Tools:", "You have these tools:", "You can call these tools:", "Available tools:", "Call one of:")
BEFORE = ("Hi. ", "Hello! ", "OK. ", "Next: ", "Hey, ", "Good morning. ", "One more thing: ", "Thanks. ")
AFTER = (" Thanks.", " Thank you!", " Thanks in advance.", " Please be quick.")
IMPERATIVES = frozenset(
    """Add Book Call Cancel Change Check Clean Convert Create Delete Dial Dim Display Drop Erase Exchange Find Get Give
    Heat List Look Make Message Move Navigate Open Order Pay Plan Play Put Queue Read Remind Remove Rename Report
    Reserve Run Save Schedule Search Send Set Show Start Store Switch Take Tell Text Track Transfer Translate Turn
    Vacuum Wake Wire Write""".split()
)
PLAIN_TYPES = {"count": "integer", "amount": "number", "time": "HH:MM", "date": "YYYY-MM-DD"}
MAX_CHARS, MORE_CHARS = 800, 1000  # no further request after this: most conversations stay below 384 tokens, or 480


# Of the rounds that are no follow-up: a request no tool fits, small talk, a request without a needed argument.
DECLINES, MORE_DECLINES = (0.08, 0.05, 0.11), (0.10, 0.05, 0.15)
# Requests of a conversation, and how many calls a result answers (of the last call, of others): in training more and
# fewer, since a call without a result is what a visitor of the page sees, and the sentence about one is learnt soon.
ROUNDS, MORE_ROUNDS = (1, 2, 3, 3, 4, 5), (1, 2, 3, 4, 5, 6, 7)
RESULTS, FEWER_RESULTS = (0.6, 1.0), (0.3, 0.4)


def agent_turns(rng: random.Random, split: str, unseen: bool, varied: bool = False) -> list[Turn]:
    """A conversation about two to five tools, of one to five requests, or up to seven.

    `unseen` takes the held-out wordings; `varied`, for training, many more of the others, more requests, more
    rounds without a call, and fewer results.
    """
    values = Values(rng, split)
    if rng.random() < 0.1:
        return _explicit(rng, values)
    kinds = tool_kinds(varied)
    tools = _choose(rng, kinds)
    turns = [Turn("system", f"{rng.choice(HEADS)}\n" + "\n".join(tool.schema() for tool in tools))]
    rounds = rng.choice(MORE_ROUNDS if varied else ROUNDS)
    at_last, before = FEWER_RESULTS if varied else RESULTS
    last = None
    refused, talked, asked = accumulate(MORE_DECLINES if varied else DECLINES)
    for number in range(rounds):
        roll = rng.random()
        if last and last[0].kind.followups[unseen] and roll < 0.6:
            new, last = _followup(*last, values, unseen)
        elif roll < refused:
            new, last = _refusal(tools, kinds, values, unseen), None
        elif roll < talked:
            new, last = small_talk(values, unseen, varied), None
        elif roll < asked:
            new, last = _incomplete(rng.choice(tools), values, unseen)
        else:
            new, last = _request(rng.choice(tools), values, unseen)
        turns += new
        answered = before if number < rounds - 1 else at_last
        if last and (answered == 1.0 or rng.random() < answered):
            turns += _result(*last, values)
        if sum(len(turn.content) for turn in turns) > (MORE_CHARS if varied else MAX_CHARS):
            break
    return turns


def _choose(rng: random.Random, kinds: tuple[ToolKind, ...]) -> list[Tool]:
    chosen = rng.sample(kinds, rng.choice((2, 2, 3, 3, 4, 5)))
    if rng.random() < 0.3:
        near = [k for k in kinds if k.group == chosen[0].group and k not in chosen]
        if near:
            chosen[1] = rng.choice(near)
    tools: list[Tool] = []
    for kind in chosen:
        tool = Tool(kind, rng)
        if tool.name not in {other.name for other in tools}:
            tools.append(tool)
    rng.shuffle(tools)
    return tools


def _request(tool: Tool, values: Values, unseen: bool):
    template = vary(values.rng.choice(tool.kind.requests[unseen]), values.rng)
    text, said = tool.request(values, template)
    arguments = {key: value.argument for key, value in said.items()}
    user = Turn("user", _polite(text, template, tool, values.rng))
    return [user, Turn("assistant", tool.call(arguments), "call", unseen)], (tool, arguments)


def _followup(tool: Tool, arguments: dict, values: Values, unseen: bool):
    text, said = tool.request(values, vary(values.rng.choice(tool.kind.followups[unseen]), values.rng))
    arguments = {**arguments, **{key: value.argument for key, value in said.items()}}
    return [Turn("user", text), Turn("assistant", tool.call(arguments), "call", unseen)], (tool, arguments)


def _incomplete(tool: Tool, values: Values, unseen: bool):
    """A request without a required argument, the question for it, its answer, and then the call."""
    rng = values.rng
    missing, pattern = rng.choice(tool.kind.incomplete[unseen])
    template = vary(pattern, rng)
    text, said = tool.request(values, template)
    arguments = {key: value.argument for key, value in said.items()}
    turns = [Turn("user", _polite(text, template, tool, rng)),
             Turn("assistant", tool.kind.param(missing).question, "ask", unseen)]
    if rng.random() < 0.25:
        return turns, None
    given = values.draw(tool.kinds[missing])
    while given.argument in arguments.values():
        given = values.draw(tool.kinds[missing])
    arguments[missing] = given.argument
    form = rng.choice(("{}", "{}", "{}.", "It is {}", "{}, please"))
    open_value = len(given.said.split()) > 2
    turns += [Turn("user", given.said if open_value else form.format(given.said)),
              Turn("assistant", tool.call(arguments), "call", unseen)]
    return turns, (tool, arguments)


def _refusal(tools: list[Tool], kinds: tuple[ToolKind, ...], values: Values, unseen: bool) -> list[Turn]:
    groups = {tool.kind.group for tool in tools}
    other = Tool(values.rng.choice([k for k in kinds if k.group not in groups]), values.rng)
    template = vary(values.rng.choice(other.kind.requests[unseen]), values.rng)
    text, _ = other.request(values, template)
    return [Turn("user", _polite(text, template, other, values.rng)),
            Turn("assistant", refusal([tool.name for tool in tools]), "refuse", unseen)]


def refusal(names: list[str]) -> str:
    """What the model says when no listed tool fits."""
    return f"I have no tool for that. I can only use {', '.join(names[:-1])} and {names[-1]}." if len(names) > 1 else (
        f"I have no tool for that. I can only use {names[0]}.")


def _result(tool: Tool, arguments: dict, values: Values) -> list[Turn]:
    if values.rng.random() < 0.1:
        error = values.field("error")
        return [Turn("tool", json.dumps({"error": error})),
                Turn("assistant", f"That did not work: {error}.", "answer", False, (error,))]
    text, fields = tool.result(values, arguments)
    sentence, copied = tool.answer(arguments, fields)
    return [Turn("tool", text), Turn("assistant", sentence, "answer", False, copied)]


def _polite(text: str, template: str, tool: Tool, rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.18:
        text = rng.choice(BEFORE) + text
    elif roll < 0.3 and not template.startswith("{"):
        text = "Please " + _lower(text) if text.split()[0] in IMPERATIVES else text
    elif roll < 0.4 and not tool.ends_open(template):
        text += rng.choice(AFTER)
    elif roll < 0.5 and not template.startswith("{"):
        text = _lower(text)
        text = text.rstrip(".") if not tool.ends_open(template) else text
    return text


def _lower(text: str) -> str:
    word = text.split()[0]
    keep = word.startswith("I") and (len(word) == 1 or word[1] == "'") or word.isupper()
    return text if keep else text[0].lower() + text[1:]


def _explicit(rng: random.Random, values: Values) -> list[Turn]:
    """Invented tools named outright ("call zomira with count 3"): nothing but the schema tells what they take."""
    kinds = ("city", "person", "label", "orderid", "count", "time", "date", "title", "text", "color", "email", "amount")
    tools = {}
    for _ in range(rng.choice((2, 2, 3, 4))):
        names: dict[str, str] = {}
        for _ in range(rng.choice((1, 2, 2, 3))):
            names[rng.choice(words.NOUNS) if rng.random() < 0.6 else values.invented()] = rng.choice(kinds)
        tools[_invented_tool(rng, values)] = names
    lines = []
    for name, params in tools.items():
        types = {p: PLAIN_TYPES.get(kind, "string") for p, kind in params.items()}
        lines.append(json.dumps({"name": name, "parameters": types}, ensure_ascii=False))
    turns = [Turn("system", f"{rng.choice(HEADS)}\n" + "\n".join(lines))]
    for _ in range(rng.choice((1, 2, 3, 4))):
        name = rng.choice(list(tools))
        drawn = {param: values.draw(kind) for param, kind in tools[name].items()}
        said = list(drawn.items())
        rng.shuffle(said)
        # Words with commas or blanks of their own need quotes, or nobody could tell where they end.
        free = any(kind in ("title", "text") for kind in tools[name].values())
        form = '{} "{}"' if free else rng.choice(("{} {}", "{} = {}", "{}: {}", '{} "{}"'))
        listing = ", ".join(form.format(param, value.said) for param, value in said)
        text = rng.choice(("Call {} with {}", "Use {} with {}", "Run {}: {}", "{} with {}", "Please call {}, {}"))
        call = {"name": name, "arguments": {param: value.argument for param, value in drawn.items()}}
        turns += [Turn("user", text.format(name, listing)),
                  Turn("assistant", json.dumps(call, ensure_ascii=False), "call")]
        if sum(len(turn.content) for turn in turns) > MAX_CHARS:
            break
    return turns


def _invented_tool(rng: random.Random, values: Values) -> str:
    roll = rng.random()
    if roll < 0.5:
        return f"{rng.choice(words.VERBS)}_{rng.choice(words.NOUNS)}"
    if roll < 0.75:
        return f"{rng.choice(words.VERBS)}_{values.invented()}"
    return values.invented()
