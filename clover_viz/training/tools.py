"""Tools of the agent traffic: read from the table, and given one conversation's names, order and types."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from clover_viz.training.tool_table import TABLE
from clover_viz.training.values import OPEN_KINDS, TYPES, Value, Values
from clover_viz.training.wordings import more_wordings

PLACEHOLDER = re.compile(r"\{(\w+)\}")
OPTIONAL = re.compile(r"\[([^\]]*)\]")


@dataclass
class Param:
    key: str
    required: bool
    names: list[tuple[str, str]]  # (name, kind): the kind may follow from the name (language: "French", lang: "fr")
    question: str


@dataclass
class ToolKind:
    """One kind of tool with all its wordings; wordings by whether they are held out."""

    group: str
    names: list[str] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    requests: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    incomplete: dict[bool, list[tuple[str, str]]] = field(default_factory=lambda: {False: [], True: []})
    followups: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    result: list[tuple[str, str]] = field(default_factory=list)
    say: list[str] = field(default_factory=list)

    def param(self, key: str) -> Param:
        return next(p for p in self.params if p.key == key)


@cache
def tool_kinds(varied: bool = False) -> tuple[ToolKind, ...]:
    """Every tool of the table, with `varied` in many more wordings. Raises ValueError on a line it cannot read."""
    kinds: list[ToolKind] = []
    for line in filter(None, map(str.strip, TABLE.splitlines())):
        head, _, rest = line.partition(" ")
        if head == "@":
            kinds.append(ToolKind(group=rest))
            continue
        tool = kinds[-1]
        if head == "names":
            tool.names = rest.split()
        elif head == "param":
            tool.params.append(_param(rest))
        elif head in "+-":
            tool.requests[head == "-"].append(rest)
        elif head[0] in "?!":
            tool.incomplete[head[0] == "!"].append((head[1:], rest))
        elif head in "><":
            tool.followups[head == "<"].append(rest)
        elif head == "result":
            tool.result = [tuple(part.split("=")) for part in rest.split()]
        elif head == "say":
            tool.say.append(rest)
        else:
            raise ValueError(f"tool table: unknown line {line!r}")
    if varied:
        for tool in kinds:
            for sign, pattern in more_wordings("tools")[tool.names[0]]:
                if sign[0] == "?":
                    tool.incomplete[False].append((sign[1:], pattern))
                else:
                    {"+": tool.requests, ">": tool.followups}[sign][False].append(pattern)
    return tuple(kinds)


def _param(text: str) -> Param:
    spec, _, question = text.partition("|") if text.count("|") else (text, "", "")
    key, _, variants = spec.partition("=")
    names = []
    for variant in variants.split(";"):
        variant_names, _, kind = variant.partition(":")
        names += [(name, kind.strip()) for name in variant_names.split()]
    key = key.strip()
    return Param(key.rstrip("?"), not key.endswith("?"), names, question.strip())


class Tool:
    """A tool as one conversation knows it."""

    def __init__(self, kind: ToolKind, rng: random.Random):
        self.kind = kind
        variant = rng.randrange(len(kind.names))
        self.name = _styled(kind.names[variant], rng)
        self.sentence = kind.say[variant % len(kind.say)]  # the name decides the wording, so that it can be learnt
        self.params = list(kind.params)
        rng.shuffle(self.params)
        self.names: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.types: dict[str, str] = {}
        for param in self.params:
            free = [pair for pair in param.names if pair[0] not in self.names.values()]
            self.names[param.key], self.kinds[param.key] = rng.choice(free)
            types = TYPES.get(self.kinds[param.key], ("string",))
            written = types[0] if rng.random() < 0.65 else rng.choice(types)
            self.types[param.key] = written if param.required else written + "?"

    def schema(self) -> str:
        """The tool's line in the system turn; `?` marks an optional parameter."""
        parameters = {self.names[p.key]: self.types[p.key] for p in self.params}
        return json.dumps({"name": self.name, "parameters": parameters}, ensure_ascii=False)

    def call(self, arguments: dict[str, Any]) -> str:
        """The call as one JSON line; arguments by key, written in the schema's order, unsaid ones left out."""
        named = {self.names[p.key]: arguments[p.key] for p in self.params if p.key in arguments}
        return json.dumps({"name": self.name, "arguments": named}, ensure_ascii=False)

    def request(self, values: Values, template: str) -> tuple[str, dict[str, Value]]:
        """A wording with values in place; optional parts are kept or dropped at random."""
        rng = values.rng

        def part(match):
            wanted = PLACEHOLDER.findall(match.group(1))
            return match.group(1) if wanted and rng.random() < 0.5 else ""

        template = OPTIONAL.sub(part, template)
        said: dict[str, Value] = {}
        for key in dict.fromkeys(PLACEHOLDER.findall(template)):
            drawn = values.draw(self.kinds[key])
            while any(drawn.argument == other.argument for other in said.values()):
                drawn = values.draw(self.kinds[key])
            said[key] = drawn
        return PLACEHOLDER.sub(lambda m: said[m.group(1)].said, template), said

    def result(self, values: Values, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """A made-up result as JSON text and as a dict; a field `@key` repeats an argument."""
        fields = {n: arguments[k[1:]] if k[0] == "@" else values.field(k) for n, k in self.kind.result}
        return json.dumps(fields, ensure_ascii=False), fields

    def answer(self, arguments: dict[str, Any], fields: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        """The sentence for a result, and the values it copies."""
        known = {**arguments, **fields}
        copied = tuple(str(known[key]) for key in PLACEHOLDER.findall(self.sentence))
        return PLACEHOLDER.sub(lambda m: str(known[m.group(1)]), self.sentence), copied

    def ends_open(self, template: str) -> bool:
        """Whether the wording ends in free text, where added words would belong to the value."""
        tail = re.search(r"\{(\w+)\}[^\w{}]*$", OPTIONAL.sub(r"\1", template))
        return bool(tail) and self.kinds[tail.group(1)] in OPEN_KINDS


def _styled(name: str, rng: random.Random) -> str:
    if rng.random() < 0.88:
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
