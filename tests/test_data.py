import itertools
import json
import random
import re
from collections import Counter

import pytest

from clover_viz.tokenizer import Tokenizer
from clover_viz.training import prose as prose_module
from clover_viz.training.data import (
    MAX_TOKENS, PROSE_WORTH, SHARES, Corpus, document, encode, encode_batch, eval_prompts, make_document,
)
from clover_viz.training.prose import Prose, ProseError
from clover_viz.training.structured import WORDINGS
from clover_viz.training.talk import intents
from clover_viz.training.talk_table import REFUSED
from clover_viz.training.tokenizer_training import corpus_texts, save_tokenizer, train_tokenizer
from clover_viz.training.tools import tool_kinds
from clover_viz.training.values import NUMBER_WORDS, OPEN_KINDS, Values, held_out
from clover_viz.training.wordings import more_wordings, sentences, vary

BOOK = "\n\n".join(
    f"Chapter {i}. The ship number {i} left the harbour. It was a cold day! Nobody on deck knew the way, and the "
    f"captain, who had {i} children, said nothing until the evening." for i in range(120)
)


@pytest.fixture(scope="module")
def book():
    return Prose(BOOK)


@pytest.fixture(scope="module")
def tok(tmp_path_factory, book):
    folder = tmp_path_factory.mktemp("tok")
    save_tokenizer(train_tokenizer(corpus_texts(Corpus(0, book), 3000)), folder)
    return Tokenizer.load(folder)


def documents(kind, split, count, unseen=False, book=None, varied=False):
    return [make_document(kind, random.Random(f"{kind}{split}{i}"), split, unseen, book, varied) for i in range(count)]


def test_a_document_follows_from_seed_split_and_index(book):
    for index in range(40):
        assert document("train", 3, index, book) == document("train", 3, index, book)
    made = [document("train", 3, i, book) for i in range(40)]
    assert made != [document("train", 4, i, book) for i in range(40)]
    assert made != [document("heldout", 3, i, book) for i in range(40)]
    with pytest.raises(ValueError, match="split must be"):
        document("test", 0, 0)


@pytest.mark.parametrize("kind", sorted(OPEN_KINDS))
def test_open_values_of_the_splits_never_meet(kind):
    for split, count in (("train", 60), ("heldout", 60)):
        values = Values(random.Random(1), split)
        assert all(held_out(values.draw(kind).said) == (split == "heldout") for _ in range(count))


def test_wordings_of_the_splits_never_meet():
    trained, reserved = set(), set()
    for tool in tool_kinds():
        trained |= {*tool.requests[False], *tool.followups[False], *(text for _, text in tool.incomplete[False])}
        reserved |= {*tool.requests[True], *tool.followups[True], *(text for _, text in tool.incomplete[True])}
        assert len(tool.requests[False]) >= 8 and len(tool.requests[True]) >= 4
    for intent in (*intents(), *intents(REFUSED)):
        trained |= set(intent.wordings[False])
        reserved |= set(intent.wordings[True])
    for seen, unseen in WORDINGS.values():
        trained |= set(seen)
        reserved |= set(unseen)
    plain = lambda texts: {re.sub(r"\W", "", re.sub(r"\{\w*\}", "X", text.lower())) for text in texts}
    assert plain(trained) & plain(reserved) == set()


def _near(pattern, reserved):
    """The held-out wordings that share three quarters of their words with a sentence of the pattern."""
    bag = lambda text: set(re.findall(r"\{\w*\}|[\w']+", re.sub(r"[\[\]]", "", text.lower())))
    found = [bag(sentence) for sentence in sentences(pattern)]
    return [text for text in reserved for words in found if 4 * len(words & bag(text)) >= 3 * len(words | bag(text))]


def test_the_many_wordings_keep_away_from_the_held_out_ones():
    count = 0
    for plain, varied in zip(tool_kinds(), tool_kinds(varied=True), strict=True):
        assert varied.requests[True] == plain.requests[True] and varied.followups[True] == plain.followups[True]
        reserved = plain.requests[True] + plain.followups[True] + [text for _, text in plain.incomplete[True]]
        new = more_wordings("tools")[plain.names[0]]
        assert len(varied.requests[False]) >= len(plain.requests[False]) + 4
        count += len(new)
        assert not [pattern for _, pattern in new if _near(pattern, reserved)]
    for intent in (*intents(), *intents(REFUSED)):
        new = more_wordings("talk")[intent.wordings[False][0]]
        count += len(new)
        assert not [pattern for _, pattern in new if _near(pattern, intent.wordings[True])]
    for family, (_, reserved) in WORDINGS.items():
        new = more_wordings("structured")[family]
        count += len(new)
        assert not [pattern for _, pattern in new if _near(pattern, reserved)]
    assert count > 1500


def test_a_pattern_gives_its_sentences_and_a_plain_wording_draws_nothing():
    expected = ["A {x}.", "A {x} now.", "An old {x}.", "An old {x} now.", "An ill {x}.", "An ill {x} now."]
    assert sorted(sentences("(A|An (old|ill)) {x}(| now).")) == sorted(expected)
    rng = random.Random(0)
    assert {vary("(A|An (old|ill)) {x}(| now).", rng) for _ in range(200)} == set(expected)
    before = rng.getstate()
    assert vary("CSV ({h}): {}", rng) == "CSV ({h}): {}" and rng.getstate() == before


def test_training_documents_are_the_varied_ones(book):
    corpus = Corpus(0, book)
    for split, varied in (("train", True), ("heldout", False)):
        for index in range(6):
            rng = random.Random(f"0/{split}/{index}")
            kind = rng.choices(corpus._kinds, corpus._odds)[0]
            unseen = split == "heldout" and rng.random() < 1 / 3
            assert corpus.document(split, index) == make_document(kind, rng, split, unseen, book, varied)


def test_prose_is_worth_less(book, tok):
    docs = [make_document(kind, random.Random(0), "train", False, book) for kind in ("agent", "prose")]
    assert [doc.worth for doc in docs] == [1, PROSE_WORTH]
    assert [example.worth for example in encode_batch(docs, tok)] == [doc.worth for doc in docs]


def test_varied_documents_have_more_of_what_is_learnt_last():
    def count(varied):
        docs = [make_document("agent", random.Random(i), "train", False, None, varied) for i in range(400)]
        return Counter(turn.label for doc in docs for turn in doc.turns)

    few, many = count(False), count(True)
    assert many["refuse"] + many["ask"] > 1.5 * (few["refuse"] + few["ask"]) > 100
    assert many["call"] > few["call"] and many["answer"] < 0.75 * few["answer"]


def test_no_question_has_two_intents():
    wordings = lambda intent: (*intent.wordings[False], *intent.wordings[True])
    known = Counter(
        text for i in intents(varied=True) for text in set(itertools.chain.from_iterable(map(sentences, wordings(i))))
    )
    assert [w for w, n in known.items() if n > 1] == []
    assert len(intents()) >= 60 and len(tool_kinds()) >= 30


@pytest.mark.parametrize("unseen", [False, True])
def test_every_wording_of_a_tool_holds_what_its_call_needs(unseen):
    for tool in tool_kinds(varied=True):
        required = {p.key for p in tool.params if p.required}
        for text in itertools.chain.from_iterable(map(sentences, tool.requests[unseen])):
            kept = {key for key in required if "{" + key + "}" in text}
            assert kept == required, text
        for missing, pattern in tool.incomplete[unseen]:
            for text in sentences(pattern):
                assert {key for key in required if "{" + key + "}" in text} == required - {missing}, text
                assert tool.param(missing).question, text
        assert tool.result and tool.say and tool.incomplete[unseen], tool.names


@pytest.mark.parametrize(
    "split, unseen, varied",
    [("train", False, False), ("train", False, True), ("heldout", False, False), ("heldout", True, False)],
)
def test_calls_fit_the_listed_schema(split, unseen, varied):
    for doc in documents("agent", split, 150, unseen, varied=varied):
        schemas = {s["name"]: s["parameters"] for s in map(json.loads, doc.turns[0].content.splitlines()[1:])}
        for turn in doc.turns:
            if turn.label != "call":
                continue
            call = json.loads(turn.content)
            assert turn.content == json.dumps(call, ensure_ascii=False) and list(call) == ["name", "arguments"]
            schema = schemas[call["name"]]
            assert [name for name in schema if name in call["arguments"]] == list(call["arguments"])
            assert {name for name, kind in schema.items() if not kind.endswith("?")} <= set(call["arguments"])
            for name, argument in call["arguments"].items():
                expected = {"integer": int, "number": (int, float), "boolean": bool}.get(schema[name].rstrip("?"), str)
                assert isinstance(argument, expected), (schema, call)


def test_answers_copy_the_values_of_results():
    for doc in documents("agent", "train", 100):
        for before, turn in itertools.pairwise(doc.turns):
            if turn.label == "answer":
                assert before.role == "tool" and all(value in turn.content for value in turn.copied)


@pytest.mark.parametrize("kind", sorted(SHARES))
def test_the_answer_mask_covers_the_assistant(kind, tok, book):
    for doc in documents(kind, "train", 40, book=book):
        example = encode(doc, tok)
        assert len(example.ids) == len(example.answer) <= MAX_TOKENS
        wanted = [i for i, a in zip(example.ids, example.answer) if a]
        if kind == "prose":
            assert doc.text.startswith(tok.decode(example.ids)) and all(example.answer)
        else:
            said = "".join(t.content for t in doc.turns if t.role == "assistant")
            assert tok.decode(wanted) == said or len(example.ids) > MAX_TOKENS - 150
            assert wanted.count(tok.token_id("<|im_end|>")) <= sum(t.role == "assistant" for t in doc.turns)


def test_ids_are_those_of_the_chat_template(tok):
    for kind in ("agent", "structured", "talk"):
        for doc in documents(kind, "train", 20):
            ids = encode(doc, tok).ids
            assert ids == tok.chat(list(doc.messages), add_generation_prompt=False)[: len(ids)]


def test_the_mix_is_held_in_answer_tokens(tok, book):
    corpus = Corpus(0, book)
    made = [corpus.document("train", i) for i in range(1500)]
    total = Counter()
    lengths = []
    for doc, example in zip(made, encode_batch(made, tok)):
        total[doc.kind] += sum(example.answer)
        lengths.append(len(example.ids))
    for kind, share in SHARES.items():
        assert abs(total[kind] / total.total() - share) < 0.06, (kind, total)
    assert sorted(lengths)[int(0.95 * len(lengths))] <= 480


@pytest.mark.parametrize("kind", ["agent", "answer", "decline", "structured", "talk", "prose"])
def test_eval_prompts_are_held_out_and_have_one_answer(kind, book):
    prompts = eval_prompts(kind, 12, 0, book)
    assert len(prompts) == 12 and prompts == eval_prompts(kind, 12, 0, book)
    assert sum(p.unseen_phrasing for p in prompts) == (4 if kind not in ("answer", "prose") else 0)
    for p in prompts:
        if kind == "prose":
            assert p.text and p.text + p.expected in BOOK and p.messages == ()
        else:
            assert p.expected in p.accepted and p.messages[-1]["role"] == ("tool" if kind == "answer" else "user")


def test_clock_times_mean_what_is_said():
    values = Values(random.Random(0), "train")
    for _ in range(2000):
        said, clock = values.time()
        hour, minute = map(int, clock.split(":"))
        assert 0 <= hour < 24 and 0 <= minute < 60
        if said.endswith("pm") or "afternoon" in said or "evening" in said or said == "noon":
            assert hour >= 12
        if said.endswith("am") or "morning" in said:
            assert hour < 12
        words = said.split()
        if words[0] in ("half", "quarter"):
            named = NUMBER_WORDS.index(words[2])
            assert named % 12 == (hour + (words[1] == "to")) % 12


def test_the_end_of_the_book_is_held_out(book):
    rng = random.Random(0)
    trained = "".join(book.chunk(rng, "train") for _ in range(300))
    assert "number 119 " not in trained and "number 3 " in trained
    assert all("number 3 " not in book.chunk(rng, "heldout") for _ in range(50))


def test_prose_is_read_from_a_folder_or_an_archive(tmp_path):
    import tarfile

    for number in range(1, 13):
        (tmp_path / f"chapter_{number}.json").write_text(json.dumps({"text": f"Number {number}. {BOOK[:900]}"}))
    from_folder = Prose.load(tmp_path)
    with tarfile.open(tmp_path / "book.tgz", "w:gz") as archive:
        for number in range(1, 13):
            archive.add(tmp_path / f"chapter_{number}.json", f"package/data/chapter_{number}.json")
    from_archive = Prose.load(tmp_path / "book.tgz")
    chunks = [p.chunk(random.Random(5), "train") for p in (from_folder, from_archive)]
    assert chunks[0] == chunks[1]


def test_missing_prose_is_one_clear_line(tmp_path, monkeypatch):
    with pytest.raises(ProseError, match="no prose at"):
        Prose.load(tmp_path / "nowhere")
    with pytest.raises(ProseError, match="no chapter"):
        Prose.load(tmp_path)
    monkeypatch.setattr(prose_module.shutil, "which", lambda name: None)
    with pytest.raises(ProseError, match="npm is needed"):
        prose_module.obtain(tmp_path / "cache")
    with pytest.raises(ValueError, match="needs a book"):
        make_document("prose", random.Random(0), "train", False)
