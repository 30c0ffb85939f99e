"""Messages that show the contrast: structured text settles in few steps, free prose in many."""

from __future__ import annotations

from dataclasses import dataclass

TOOLS = """Tools:
{"name": "get_weather", "parameters": {"city": "string", "day": "string?"}}
{"name": "set_timer", "parameters": {"minutes": "integer", "label": "string?"}}
{"name": "book_table", "parameters": {"place": "string", "time": "HH:MM", "guests": "integer"}}"""


@dataclass(frozen=True)
class Example:
    """A message, the system prompt that goes with it, and the name on its button. raw: no message but a text that the
    model goes on from."""

    name: str
    prompt: str
    system: str = ""
    raw: bool = False

    @property
    def messages(self) -> list[dict[str, str]]:
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": self.prompt}]


TOOL_CALL = Example("JSON tool call", "What is the weather in Lisbon tomorrow?", TOOLS)
LIST = Example("A list", "Make a numbered list of apple, pear, plum and cherry.")
PROSE = Example("Prose", "The night was dark, and the ship", raw=True)
EXAMPLES = (
    TOOL_CALL,
    LIST,
    PROSE,
    Example("Small talk", "Hi! How are you today?"),
)
