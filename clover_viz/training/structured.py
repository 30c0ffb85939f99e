"""Structured text: lists, CSV, JSON, small functions and copies, made from given values."""

from __future__ import annotations

import json
import random

from clover_viz.training import words
from clover_viz.training.turn import Turn
from clover_viz.training.values import NUMBER_WORDS, Values
from clover_viz.training.wordings import more_wordings, vary

# family: (training wordings, held-out wordings)
WORDINGS = {
    "json_list": (
        ("Make a JSON list of {}.", "Write {} as a JSON array.", "JSON list: {}", "Turn {} into a JSON list.",
         "Put {} in a JSON array.", "Give me a JSON list with {}."),
        ("I need an array in JSON that holds {}.", "As JSON, how do {} look in one list?"),
    ),
    "bullets": (
        ("Make a bullet list of {}.", "Write {} as bullet points.", "Bullets: {}", "List {} with dashes.",
         "Turn {} into a bulleted list.", "Give me bullet points for {}."),
        ("I'd like one dash in front of each: {}", "Each of {} should get its own bullet."),
    ),
    "numbered": (
        ("Make a numbered list of {}.", "Number these: {}", "Write {} as a numbered list.", "Numbered list: {}",
         "Turn {} into a numbered list.", "List {} with numbers."),
        ("Put 1, 2, 3 and so on before {}.", "Count through {}, one a line."),
    ),
    "lines": (
        ("Write {} one per line.", "Put each of {} on its own line.", "One per line: {}", "Split {} into lines."),
        ("I want a new line after each of {}.", "Stack {} on top of each other."),
    ),
    "sort": (
        ("Sort {} alphabetically.", "Put {} in alphabetical order.", "Sort: {}", "Order {} from A to Z.",
         "Sort these words: {}"),
        ("Which order would a dictionary give {}?", "From A to Z, please: {}"),
    ),
    "sort_numbers": (
        ("Sort the numbers {}.", "Put {} in ascending order.", "Sort ascending: {}", "Order {} from small to large."),
        ("Smallest first, please: {}", "Arrange {} so that they grow."),
    ),
    "reverse": (
        ("Reverse the list {}.", "Write {} in reverse order.", "Reverse: {}", "Turn the order of {} around."),
        ("Start from the end of {}.", "Last one first, please: {}"),
    ),
    "first": (
        ("What is the first of {}?", "Give me the first item of {}.", "First of {}?", "Pick the first from {}."),
        ("Which one leads {}?", "Only the one that comes first, please: {}"),
    ),
    "last": (
        ("What is the last of {}?", "Give me the last item of {}.", "Last of {}?", "Pick the last from {}."),
        ("Which one ends {}?", "Only the one that comes last, please: {}"),
    ),
    "join": (
        ("Join {} with dashes.", "Put a dash between {}.", "Connect {} by dashes."),
        ("Glue {} together with dashes.",),
    ),
    "csv": (
        ("Write as CSV with the header {h}: {}", "Make a CSV with columns {h} from {}", "CSV ({h}): {}",
         "Turn this into CSV with the header {h}: {}"),
        ("Comma separated please, columns {h}: {}", "I want to open this in a spreadsheet, header {h}: {}"),
    ),
    "table": (
        ("Make a Markdown table with the columns {h}: {}", "Markdown table ({h}): {}", "Write as a table with {h}: {}"),
        ("Draw a table in Markdown, header {h}: {}",),
    ),
    "records": (
        ("Write as JSON objects with the keys {h}: {}", "Make a JSON list of objects ({h}): {}",
         "Turn this into JSON with {h}: {}"),
        ("As JSON records with {h}, please: {}",),
    ),
    "profile": (
        ("Turn this into JSON with name, age and city: {}", "Extract name, age and city as JSON: {}",
         "JSON with name, age, city: {}", "Read the name, age and city out of this: {}"),
        ("Which name, age and city are in here? Answer in JSON. {}", "Fill in name, age and city as JSON from: {}"),
    ),
    "pairs": (
        ("Turn these settings into JSON: {}", "Write as a JSON object: {}", "JSON object from: {}",
         "Make one JSON object of {}"),
        ("These settings should be an object in JSON: {}",),
    ),
    "get": (
        ("What is {k} in {}?", "Read {k} from {}", "Give me the value of {k} in {}", "In {}, what is {k}?"),
        ("Look at {} and tell me {k}.", "{k} of {}?"),
    ),
    "email": (
        ("Find the email address: {}", "Extract the email address from: {}", "Which email address is in this text? {}",
         "Email address in: {}"),
        ("Where could I write to, according to this? {}", "Someone left an address for mail here: {}"),
    ),
    "repeat": (
        ("Repeat exactly: {}", "Say this: {}", "Repeat after me: {}", "Copy this text: {}", "Write exactly this: {}"),
        ("Echo: {}", "Give me back, letter by letter: {}"),
    ),
    "upper": (
        ("Write in capital letters: {}", "Uppercase: {}", "Make this uppercase: {}", "All caps: {}"),
        ("Shout this in capitals: {}",),
    ),
    "lower": (
        ("Write in small letters: {}", "Lowercase: {}", "Make this lowercase: {}"),
        ("No capitals, please: {}",),
    ),
    "count": (
        ("Count to {}.", "Count from 1 to {}.", "Write the numbers from 1 to {}.", "Numbers up to {}."),
        ("Name every number until you reach {}.", "1, 2, 3 and on to {}, please."),
    ),
    "countdown": (
        ("Count down from {}.", "Count backwards from {}.", "Countdown from {}."),
        ("Go from {} down to 1.",),
    ),
    "tag": (
        ("Put {} in a {k} tag.", "Wrap {} in <{k}>.", "Write {} inside a {k} element."),
        ("Mark {} up as {k}.",),
    ),
    "quote": (
        ("Put {} in double quotes.", "Quote {}.", "Write {} with double quotes around it."),
        ("{} needs quotes around it.",),
    ),
    "function": (
        ("Write a Python function {f} that {d}.", "Python: a function {f} that {d}.", "Define {f} in Python; it {d}.",
         "Write {f} in Python. It {d}.", "I need a Python function called {f} that {d}."),
        ("How would {f} look in Python if it {d}?", "Code {f} for me in Python, so that it {d}."),
    ),
    "loop": (
        ("Write a Python loop over {f} that prints each {d}.", "Python: print every {d} in {f}.",
         "Loop over {f} in Python and print each {d}."),
        ("In Python, go through {f} and print every {d}.",),
    ),
    "dataclass": (
        ("Write a Python dataclass {f} with {d}.", "Python dataclass {f}: {d}", "Define a dataclass {f} with {d}."),
        ("Model {f} as a dataclass in Python, fields {d}.",),
    ),
}
# name of the function's parameters, what it does, its body; {a} and {b} are parameters, {f} the function
FUNCTIONS = (
    (2, "returns {a} times {b}", "return {a} * {b}"),
    (2, "adds {a} and {b}", "return {a} + {b}"),
    (2, "subtracts {b} from {a}", "return {a} - {b}"),
    (2, "divides {a} by {b}", "return {a} / {b}"),
    (2, "returns the larger of {a} and {b}", "return max({a}, {b})"),
    (2, "returns the smaller of {a} and {b}", "return min({a}, {b})"),
    (2, "checks whether {a} equals {b}", "return {a} == {b}"),
    (1, "returns the square of {a}", "return {a} * {a}"),
    (1, "checks whether {a} is even", "return {a} % 2 == 0"),
    (1, "prints {a}", "print({a})"),
    (1, "returns the length of {a}", "return len({a})"),
    (1, "returns the sum of {a}", "return sum({a})"),
    (1, "returns the average of {a}", "return sum({a}) / len({a})"),
    (1, "sorts {a}", "return sorted({a})"),
    (1, "reverses {a}", "return {a}[::-1]"),
    (1, "greets {a}", 'return f"Hello, {{{a}}}!"'),
    (1, "returns {a} in capitals", "return {a}.upper()"),
    (1, "returns the first of {a}", "return {a}[0]"),
    (1, "returns the last of {a}", "return {a}[-1]"),
    (1, "opens {a} and returns its text", "with open({a}) as file:\n        return file.read()"),
    (1, "returns {a} or 0 if it is None", "if {a} is None:\n        return 0\n    return {a}"),
)
HEADERS = {
    "name": "first_name", "city": "city", "item": "item", "price": "amount", "count": "several", "id": "orderid",
    "color": "color", "room": "room", "email": "email", "time": "clock", "title": "title", "age": "several",
}
TAGS = ("b", "p", "h1", "li", "em", "title", "code", "span")


def structured_turns(rng: random.Random, split: str, unseen: bool, varied: bool = False) -> list[Turn]:
    """One to three tasks, each a request and its one right answer."""
    values = Values(rng, split)
    turns: list[Turn] = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        family = rng.choice(FAMILIES)
        slots, answer = MAKERS[family](values)
        wordings = WORDINGS[family][unseen]
        if varied:
            wordings += tuple(pattern for _, pattern in more_wordings("structured")[family])
        request = vary(rng.choice(wordings), rng).replace("{}", "{x}").format(**slots)
        turns += [Turn("user", request), Turn("assistant", answer, "structured", unseen)]
        if sum(len(turn.content) for turn in turns) > 500:
            break
    return turns


def _items(values: Values, low=3, high=6) -> list[str]:
    rng = values.rng
    kind = rng.choice(("item", "city", "first_name", "noun_phrase", "color", "room", "invented", "plain"))
    count = rng.randint(low, high)
    items: list[str] = []
    while len(items) < count:
        item = rng.choice(words.NOUNS) if kind == "plain" else values.draw(kind).said
        if item not in items and " and " not in item and "," not in item:  # or nobody could tell where it ends
            items.append(item)
    return items


def _listed(values: Values, items: list[str]) -> str:
    if values.rng.random() < 0.35:
        return f"{', '.join(items[:-1])} and {items[-1]}"
    return ", ".join(items)


def _from_items(render, low=3, high=6):
    def make(values: Values):
        items = _items(values, low, high)
        return {"x": _listed(values, items)}, render(items)

    return make


def _sort(values: Values):
    pool = words.NOUNS if values.rng.random() < 0.7 else words.NAMES
    items = values.rng.sample(pool, values.rng.randint(3, 5))
    return {"x": ", ".join(items)}, ", ".join(sorted(items))


def _sort_numbers(values: Values):
    numbers = values.rng.sample(range(1, 100), values.rng.randint(3, 5))
    return {"x": ", ".join(map(str, numbers))}, ", ".join(map(str, sorted(numbers)))


def _rows(values: Values):
    rng = values.rng
    header = rng.sample(list(HEADERS), rng.choice((2, 2, 3)))
    rows = [[values.draw(HEADERS[name]) for name in header] for _ in range(rng.randint(2, 4))]
    said = "; ".join(" - ".join(str(v.argument) for v in row) for row in rows)
    return header, [[v.argument for v in row] for row in rows], {"h": ", ".join(header), "x": said}


def _csv(values: Values):
    header, rows, slots = _rows(values)
    quote = lambda cell: f'"{cell}"' if "," in str(cell) else str(cell)
    return slots, "\n".join([",".join(header)] + [",".join(map(quote, row)) for row in rows])


def _table(values: Values):
    header, rows, slots = _rows(values)
    lines = [header, ["---"] * len(header), *rows]
    return slots, "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _records(values: Values):
    header, rows, slots = _rows(values)
    return slots, json.dumps([dict(zip(header, row)) for row in rows], ensure_ascii=False)


def _profile(values: Values):
    rng = values.rng
    name, city, age = values.person(), values.city(), rng.randint(3, 99)
    forms = (f"{name} is {age} years old and lives in {city}.", f"I am {name}, {age}, from {city}.",
             f"In {city} lives {name}, who is {age}.", f"My name is {name}. I am {age} and I live in {city}.",
             f"{name} ({age}) comes from {city}.", f"At {age}, {name} moved to {city}.")
    answer = {"name": name, "age": age, "city": city}
    return {"x": rng.choice(forms)}, json.dumps(answer, ensure_ascii=False)


def _pairs(values: Values):
    rng = values.rng
    keys = rng.sample(words.NOUNS, rng.randint(2, 4))
    drawn = {k: rng.choice((values.several, values.color, values.invented, values.orderid))() for k in keys}
    glue = rng.choice(("{}={}", "{} = {}", "{}: {}"))
    said = ", ".join(glue.format(k, v) for k, v in drawn.items())
    return {"x": said}, json.dumps(drawn, ensure_ascii=False)


def _get(values: Values):
    slots, text = _pairs(values)
    key, value = values.rng.choice(list(json.loads(text).items()))
    return {"x": text, "k": key}, str(value)


def _email(values: Values):
    email = values.email()
    form = values.rng.choice(("{t} Write to {e} if you can.", "{p} ({e}) said: {t}", "You reach {p} at {e}. {t}.",
                              "{t}, best wishes, {p}, {e}", "Contact: {e}, {p}"))
    text = " ".join(values.rng.choice(words.COMMON) for _ in range(values.rng.randint(3, 8)))
    return {"x": form.format(t=text, e=email, p=values.first_name())}, email


def _copy(values: Values):
    kind = values.rng.choice(("text", "text", "task", "title", "topic", "orderid", "path"))
    text = str(values.draw(kind).said)
    return {"x": text}, text


def _cased(change):
    def make(values: Values):
        rng = values.rng
        text = " ".join(rng.choice(words.NOUNS + words.ADJECTIVES) for _ in range(rng.randint(1, 3)))
        return {"x": text if change is str.upper else text.upper()}, change(text)

    return make


def _count(values: Values):
    last = values.rng.randint(2, 20)
    said = NUMBER_WORDS[last] if values.rng.random() < 0.4 else str(last)
    return {"x": said}, ", ".join(map(str, range(1, last + 1)))


def _countdown(values: Values):
    first = values.rng.randint(3, 20)
    return {"x": first}, ", ".join(map(str, range(first, 0, -1)))


def _tag(values: Values):
    tag, text = values.rng.choice(TAGS), values.noun_phrase()
    return {"x": text, "k": tag}, f"<{tag}>{text}</{tag}>"


def _quote(values: Values):
    text = values.noun_phrase()
    return {"x": text}, f'"{text}"'


def _identifier(values: Values) -> str:
    rng = values.rng
    return values.fresh(lambda: rng.choice((
        f"{rng.choice(words.VERBS)}_{rng.choice(words.NOUNS)}",
        f"{rng.choice(words.ADJECTIVES)}_{rng.choice(words.NOUNS)}",
        values.ascii_word())))


def _function(values: Values):
    rng = values.rng
    arity, does, body = rng.choice(FUNCTIONS)
    name, (a, b) = _identifier(values), rng.sample(words.NOUNS, 2)
    parameters = f"{a}, {b}" if arity == 2 else a
    code = f"def {name}({parameters}):\n    {body.format(a=a, b=b)}"
    return {"f": f"{name}({parameters})" if rng.random() < 0.3 else name, "d": does.format(a=a, b=b)}, code


def _loop(values: Values):
    item = values.rng.choice(words.NOUNS)
    items = item + "s" if values.rng.random() < 0.5 else _identifier(values)
    return {"f": items, "d": item}, f"for {item} in {items}:\n    print({item})"


def _dataclass(values: Values):
    rng = values.rng
    name = rng.choice((rng.choice(words.NOUNS).capitalize(), values.ascii_word().capitalize()))
    fields = rng.sample(words.NOUNS, rng.randint(2, 4))
    types = [rng.choice(("int", "str", "float", "bool")) for _ in fields]
    said = ", ".join(f"{f} ({t})" for f, t in zip(fields, types))
    return {"f": name, "d": said}, f"@dataclass\nclass {name}:\n" + "\n".join(
        f"    {f}: {t}" for f, t in zip(fields, types))


MAKERS = {
    "json_list": _from_items(lambda items: json.dumps(items, ensure_ascii=False)),
    "bullets": _from_items(lambda items: "\n".join(f"- {item}" for item in items)),
    "numbered": _from_items(lambda items: "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))),
    "lines": _from_items("\n".join),
    "sort": _sort,
    "sort_numbers": _sort_numbers,
    "reverse": _from_items(lambda items: ", ".join(reversed(items)), 3, 5),
    "first": _from_items(lambda items: items[0]),
    "last": _from_items(lambda items: items[-1]),
    "join": _from_items("-".join, 2, 5),
    "csv": _csv,
    "table": _table,
    "records": _records,
    "profile": _profile,
    "pairs": _pairs,
    "get": _get,
    "email": _email,
    "repeat": _copy,
    "upper": _cased(str.upper),
    "lower": _cased(str.lower),
    "count": _count,
    "countdown": _countdown,
    "tag": _tag,
    "quote": _quote,
    "function": _function,
    "loop": _loop,
    "dataclass": _dataclass,
}
OFTEN = ("json_list", "bullets", "numbered", "csv", "records", "profile", "pairs", "function", "repeat")
FAMILIES = (*MAKERS, *OFTEN)
