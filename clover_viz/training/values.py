"""Random values for the generated data: names, cities, texts, times ... each as it is said and as JSON holds it.

Training and held-out values never meet: an open value (invented or composed) belongs to the held-out side exactly
when the CRC-32 of its text is divisible by ten. Closed sets (currencies, rooms, clock times) are shared.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple
from zlib import crc32

from clover_viz.training import words

NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
OPEN_KINDS = frozenset(
    """city person place title artist topic text task event item note path label email orderid flight phone
    ticker""".split()
)
# How a schema may write the type of a kind; the first is used most.
TYPES = {
    "time": ("HH:MM", "string"),
    "date": ("YYYY-MM-DD", "string"),
    "minutes": ("integer", "number"),
    "count": ("integer", "number"),
    "percent": ("integer", "number"),
    "degrees": ("number",),
    "amount": ("number",),
    "switch": ("boolean",),
    "locked": ("boolean",),
    "speaker": ("boolean",),
    "party": ("integer", "number"),
    "switchword": ("on|off", "string"),
    "currency": ("string", "code"),
    "unit": ("string",),
    "mode": ("heat|cool|fan", "string"),
    "size": ("small|medium|large", "string"),
    "level": ("low|normal|high", "string"),
    "travel": ("car|bike|walk", "string"),
}
FIELD_WORDS = {
    "sky": "sunny|cloudy|rainy|foggy|windy|clear|snowy|stormy",
    "flightstatus": "on time|delayed|boarding|landed|cancelled",
    "ticketstatus": "open|solved|waiting|in progress|closed",
    "orderstatus": "shipped|packed|delayed|in transit|out for delivery",
    "currencycode": "EUR|USD|GBP|CHF|JPY|SEK|PLN|CAD",
    "motion": "no motion|a cat|a dog|nobody|two people|an open window|a parcel",
    "error": "service unavailable|not found|permission denied|timeout|no connection|nothing available",
}


class Value(NamedTuple):
    said: str
    argument: Any


def held_out(text: str) -> bool:
    """Whether an open value is reserved for the held-out split."""
    return crc32(text.encode()) % 10 == 0


class Values:
    """Draws values of one split from one random stream."""

    def __init__(self, rng: random.Random, split: str):
        self.rng = rng
        self.wanted = split == "heldout"

    def draw(self, kind: str) -> Value:
        """A value of a kind; `kind` names a method of this class (open ones are listed in OPEN_KINDS)."""
        made = getattr(self, kind)()
        return made if isinstance(made, Value) else Value(str(made), made)

    def fresh(self, make) -> str:
        """The first text from `make()` that belongs to this split."""
        while True:
            text = make()
            if held_out(text) == self.wanted:
                return text

    # invented words and names

    def invented(self) -> str:
        rng = self.rng
        starts, middles, ends = rng.choice(words.ALPHABETS)
        middle = "".join(rng.choice(middles) for _ in range(rng.choice((0, 1, 1, 2))))
        return self.fresh(lambda: rng.choice(starts) + middle + rng.choice(ends) + rng.choice(("", rng.choice(ends))))

    def invented_name(self) -> str:
        rng = self.rng

        def make():
            starts, middles, ends = rng.choice(words.ALPHABETS)
            middle = "".join(rng.choice(middles) for _ in range(rng.choice((0, 1, 1, 2))))
            return (rng.choice(starts) + middle + rng.choice(ends)).capitalize()

        return self.fresh(make)

    def first_name(self) -> str:
        return self.fresh(lambda: self.rng.choice(words.NAMES)) if self.rng.random() < 0.35 else self.invented_name()

    def person(self) -> str:
        if self.rng.random() < 0.7:
            return self.first_name()
        return self.fresh(lambda: f"{self.first_name()} {self.invented_name()}")

    def city(self) -> str:
        rng = self.rng
        if rng.random() < 0.35:
            return self.fresh(lambda: rng.choice(words.CITIES))
        if rng.random() < 0.15:
            return self.fresh(lambda: f"{rng.choice(words.CITY_PREFIXES)} {self.invented_name()}")
        return self.invented_name()

    def place(self) -> str:
        rng = self.rng
        form = rng.choice(("{n}", "Café {n}", "{n} Grill", "The {a} {o}", "Casa {n}", "{n} & {m}", "{n} House"))
        return self.fresh(
            lambda: form.format(n=self.invented_name(), m=self.invented_name(), a=rng.choice(words.ADJECTIVES).title(),
                                o=rng.choice(words.NOUNS).title())
        )

    def artist(self) -> str:
        rng = self.rng
        return self.person() if rng.random() < 0.5 else self.fresh(
            lambda: f"The {rng.choice(words.ADJECTIVES).title()} {rng.choice(words.NOUNS).title()}s"
        )

    def title(self) -> str:
        rng = self.rng

        def make():
            form = rng.choice(words.TITLES)
            pick = lambda pool: rng.choice(pool).title()
            return form.format(a=pick(words.ADJECTIVES), n=pick(words.NOUNS), m=pick(words.NOUNS),
                               a2=pick(words.ADJECTIVES), i=self.invented_name())

        return self.fresh(make)

    # free text

    def noun_phrase(self) -> str:
        rng = self.rng
        return self.fresh(lambda: f"{rng.choice(words.ADJECTIVES)} {rng.choice(words.NOUNS)}")

    def topic(self) -> str:
        return self.fresh(lambda: self._fill(self.rng.choice(words.TOPICS)))

    def task(self) -> str:
        return self.fresh(lambda: self._fill(self.rng.choice(words.TASKS)))

    def event(self) -> str:
        return self.fresh(lambda: self._fill(self.rng.choice(words.EVENTS)))

    def label(self) -> str:
        rng = self.rng
        return self.fresh(lambda: rng.choice((rng.choice(words.NOUNS), self._fill("{a} {n}"), self.invented())))

    def item(self) -> str:
        rng = self.rng
        return self.fresh(lambda: rng.choice(words.GROCERIES) if rng.random() < 0.4 else self._fill(
            rng.choice(("{a} {g}", "{i} {g}", "{i}", "{g} and {g2}"))))

    def text(self) -> str:
        rng = self.rng

        def make():
            if rng.random() < 0.45:
                text = " ".join(rng.choice(words.COMMON) for _ in range(rng.randint(3, 8)))
            else:
                text = self._fill(rng.choice(words.MESSAGES))
            roll = rng.random()
            if roll < 0.04:
                return f"{text} {rng.choice(words.EMOJI)}"
            if roll < 0.06:
                return "".join(rng.choice(words.CJK) for _ in range(rng.randint(3, 7)))
            return text[0].upper() + text[1:] if roll < 0.2 else text

        return self.fresh(make)

    def note(self) -> str:
        return self.text() if self.rng.random() < 0.7 else self.task()

    def _fill(self, form: str) -> str:
        rng = self.rng
        pick = rng.choice
        slots = {}
        for name in ("a", "a2", "n", "m", "i", "p", "g", "g2", "k", "v"):
            if "{" + name + "}" in form:
                slots[name] = {
                    "a": lambda: pick(words.ADJECTIVES), "a2": lambda: pick(words.ADJECTIVES),
                    "n": lambda: pick(words.NOUNS), "m": lambda: pick(words.NOUNS),
                    "i": self.invented_name, "p": self.first_name, "g": lambda: pick(words.GROCERIES),
                    "g2": lambda: pick(words.GROCERIES), "k": lambda: str(rng.randint(2, 60)),
                    "v": lambda: pick(words.VERBS),
                }[name]()
        return form.format(**slots)

    # codes, numbers, money

    def orderid(self) -> str:
        rng = self.rng
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"

        def digits(n):
            return "".join(rng.choice("0123456789") for _ in range(n))

        def make():
            form = rng.randrange(4)
            if form == 0:
                return f"{rng.choice(letters)}{digits(1)}-{digits(2)}"
            if form == 1:
                return f"{rng.choice(('ORD', 'INV', 'REF', 'TK', 'PX'))}-{digits(rng.randint(3, 5))}"
            if form == 2:
                return f"{rng.choice(letters)}{rng.choice(letters)}{digits(rng.randint(3, 4))}"
            return digits(rng.randint(5, 7))

        return self.fresh(make)

    def flight(self) -> str:
        rng = self.rng
        lines = ("LH", "BA", "AF", "KL", "SK", "IB", "TP", "QF", "JL")
        return self.fresh(lambda: f"{rng.choice(lines)}{rng.randint(100, 2999)}")

    def phone(self) -> str:
        rng = self.rng
        return self.fresh(lambda: f"+{rng.randint(1, 99)} {rng.randint(100, 999)} {rng.randint(10000, 999999)}")

    def email(self) -> str:
        rng = self.rng

        def make():
            first, last = self.ascii_word(), self.ascii_word()
            user = rng.choice((rng.choice(words.NAMES).lower(), first, f"{first}.{last}"))
            return f"{user}@{self.ascii_word()}.{rng.choice(('com', 'org', 'net', 'example', 'io', 'eu'))}"

        return self.fresh(make)

    def ascii_word(self) -> str:
        starts, middles, ends = self.rng.choice(words.ALPHABETS[:4])
        return self.rng.choice(starts) + self.rng.choice(middles) + self.rng.choice(ends)

    def path(self) -> str:
        rng = self.rng

        def make():
            noun = rng.choice(words.NOUNS)
            name = rng.choice((noun, self.ascii_word(), f"{noun}_{rng.randint(1, 99)}"))
            folder = rng.choice(("", "", "reports/", "notes/", "photos/", f"{self.ascii_word()}/"))
            return f"{folder}{name}.{rng.choice(('txt', 'pdf', 'csv', 'md', 'png', 'json'))}"

        return self.fresh(make)

    def ticker(self) -> str:
        rng = self.rng
        return self.fresh(lambda: "".join(rng.choice("ABCDEFGHIKLMNOPRSTUVXYZ") for _ in range(rng.choice((3, 4, 4)))))

    def count(self) -> Value:
        number = self.rng.choice((*range(1, 21), self.rng.randint(1, 99)))
        return Value(NUMBER_WORDS[number] if number <= 20 and self.rng.random() < 0.5 else str(number), number)

    def party(self) -> Value:
        number = self.rng.randint(2, 12)
        return Value(NUMBER_WORDS[number] if self.rng.random() < 0.6 else str(number), number)

    def minutes(self) -> Value:
        rng = self.rng
        if rng.random() < 0.2:
            return rng.choice((Value("half an hour", 30), Value("an hour", 60), Value("a quarter of an hour", 15),
                               Value("two hours", 120), Value("three hours", 180), Value("an hour and a half", 90)))
        number = rng.choice((*range(2, 21), rng.randint(2, 90), 25, 30, 40, 45, 50))
        said = NUMBER_WORDS[number] if number <= 20 and rng.random() < 0.5 else str(number)
        return Value(f"{said} {rng.choice(('minutes', 'minutes', 'min'))}", number)

    def percent(self) -> Value:
        number = self.rng.randint(1, 100)
        return Value(f"{number}{self.rng.choice((' percent', '%', ' %'))}", number)

    def degrees(self) -> Value:
        number = self.rng.choice((self.rng.randint(15, 28), self.rng.randint(15, 27) + 0.5))
        return Value(f"{number}{self.rng.choice((' degrees', '°', ''))}", number)

    def amount(self) -> Value:
        rng = self.rng
        cents = float(f"{rng.randint(1, 999)}.{rng.randint(0, 9)}{rng.randint(1, 9)}")
        number = rng.choice((rng.randint(2, 999), rng.randint(2, 9999), cents))
        return Value(str(number), number)

    def currency(self) -> Value:
        code, *said = self.rng.choice(words.CURRENCIES)
        return Value(self.rng.choice((code, *said, *said)), code)

    # closed sets

    def langname(self) -> Value:
        name, _ = self.rng.choice(words.LANGUAGES)
        return Value(name, name)

    def langcode(self) -> Value:
        return Value(*self.rng.choice(words.LANGUAGES))

    def unit(self) -> Value:
        return Value(*self.rng.choice(words.UNITS))

    def switch(self) -> Value:
        return self.rng.choice((Value("on", True), Value("off", False)))

    def switchword(self) -> str:
        return self.rng.choice(("on", "off"))

    def locked(self) -> Value:
        return self.rng.choice((Value("lock", True), Value("unlock", False)))

    def speaker(self) -> Value:
        return self.rng.choice((Value("on speaker", True), Value("with the loudspeaker", True),
                                Value("without the speaker", False)))

    def room(self) -> str:
        return self.rng.choice(words.ROOMS)

    def color(self) -> str:
        return self.rng.choice(words.COLORS)

    def genre(self) -> str:
        return self.rng.choice(words.GENRES)

    def cuisine(self) -> str:
        return self.rng.choice(words.CUISINES)

    def mode(self) -> str:
        return self.rng.choice(("heat", "cool", "fan"))

    def size(self) -> str:
        return self.rng.choice(("small", "medium", "large"))

    def level(self) -> str:
        return self.rng.choice(("low", "normal", "high"))

    def travel(self) -> str:
        return self.rng.choice(("car", "bike", "walk"))

    # fields of tool results, as they stand in JSON

    def field(self, kind: str) -> Any:
        """A value of a tool's result; unknown kinds stand for themselves (`status=ok`)."""
        rng = self.rng
        if kind.endswith("_field"):
            made = getattr(self, kind.removesuffix("_field"))()
            return made.argument if isinstance(made, Value) else made
        if kind in FIELD_WORDS:
            return rng.choice(FIELD_WORDS[kind].split("|"))
        numbers = {
            "temp": lambda: rng.randint(-12, 38),
            "platform": lambda: rng.randint(1, 24),
            "rating": lambda: float(f"{rng.randint(1, 4)}.{rng.randint(1, 9)}"),
            "price_number": lambda: float(f"{rng.randint(1, 4000)}.{rng.randint(0, 9)}{rng.randint(1, 9)}"),
            "change": lambda: float(f"{rng.choice(('', '-'))}{rng.randint(0, 9)}.{rng.randint(1, 9)}"),
        }
        return numbers[kind]() if kind in numbers else kind

    def several(self) -> int:
        return self.rng.choice((self.rng.randint(2, 12), self.rng.randint(2, 240)))

    def clock(self) -> str:
        return f"{self.rng.randrange(24):02d}:{self.rng.randrange(60):02d}"

    def price(self) -> str:
        return f"{self.rng.randint(20, 1900)} {self.rng.choice(words.CURRENCIES)[0]}"

    # times and dates

    def day(self) -> Value:
        name = self.rng.choice(words.DAYS)
        if name in ("today", "tomorrow", "tonight"):
            return Value(name, name)
        return Value(f"on {name}", name)

    def time(self) -> Value:
        rng = self.rng
        hour, minute = rng.randrange(24), rng.choice((0, 0, 0, 15, 30, 45, rng.randrange(60), 5 * rng.randrange(12)))
        clock = f"{hour:02d}:{minute:02d}"
        form = rng.randrange(5)
        half, twelve = ("am" if hour < 12 else "pm"), (hour - 1) % 12 + 1
        if form == 0:
            return Value(clock, clock)
        if form == 1:
            if (hour, minute) in ((12, 0), (0, 0)):
                return Value("noon" if hour else "midnight", clock)
            return Value(f"{twelve} {half}" if minute == 0 else f"{twelve}:{minute:02d} {half}", clock)
        if form == 2 and 1 <= hour:
            # Words without a part of the day mean the hour as said; afternoon and evening add twelve.
            part = rng.choice(("", " in the morning")) if hour <= 11 else (
                " in the afternoon" if hour <= 17 else " in the evening" if hour <= 22 else "")
            if hour <= 12 or part:
                said, after = NUMBER_WORDS[twelve], NUMBER_WORDS[twelve % 12 + 1]
                spoken = {0: f"{said} o'clock", 15: f"quarter past {said}", 30: f"half past {said}"}.get(minute)
                if minute == 45 and hour not in (11, 12, 17, 22):
                    spoken = f"quarter to {after}"
                if spoken and not (hour == 12 and not part):
                    return Value(spoken + part, clock)
        return Value(f"{twelve}:{minute:02d} {half}" if form == 3 else clock, clock)

    def date(self) -> Value:
        rng = self.rng
        year, month, day = rng.randint(2025, 2029), rng.randint(1, 12), rng.randint(1, 28)
        name = words.MONTHS[month - 1]
        suffix = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
        said = rng.choice((f"{day} {name} {year}", f"{name} {day}, {year}", f"{day}{suffix} of {name} {year}",
                           f"{year}-{month:02d}-{day:02d}", f"{day} {name[:3]} {year}"))
        return Value(said, f"{year}-{month:02d}-{day:02d}")
