"""Trains clover-tiny's tokenizer from its own training data; the same seed gives the same file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from clover_viz.training.data import Corpus
from clover_viz.training.prose import Prose

VOCAB_SIZE = 3072
SPECIALS = ("<|pad|>", "<|mask|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
# Words with their underscores; one digit; one newline; runs of other signs with their blanks. So a value has the same
# ids after a blank, a quote or a newline, and a turn's content never merges with the newline of its head.
PIECES = r"\p{L}[\p{L}\p{M}_]*|\p{N}|\n|[^\p{L}\p{N}\n]+"
ALPHABET = "".join(map(chr, range(0x20, 0x7F))) + "\n" + "áàâäãåæçéèêëíîïñóôöõøœßúùûüýąćčęěğıłńřśşšžÅÉÖÜØŁ—–’‘“”…€°"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocab_size: int = VOCAB_SIZE):
    """A `tokenizers.Tokenizer`: specials at 0.., then 256 plain byte tokens, then the learnt merges."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    def backend(model):
        made = Tokenizer(model)
        made.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
        made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
        return made

    learner = backend(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=[*SPECIALS, *BYTES], initial_alphabet=list(ALPHABET),
        limit_alphabet=len(ALPHABET), max_token_length=24, show_progress=False,
    )
    learner.train_from_iterator(_kept(texts), trainer)
    model = json.loads(learner.to_str())["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    # Rebuilt, because the learner's byte tokens were special: `<0x41>` typed by a user would have become "A".
    made = backend(models.BPE(vocab=model["vocab"], merges=merges, byte_fallback=True))
    made.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIALS])
    return made


def corpus_texts(corpus: Corpus, documents: int) -> Iterator[str]:
    """The texts of the first training documents; nothing held out."""
    for index in range(documents):
        doc = corpus.document("train", index)
        yield from [doc.text] if doc.text else [f"{turn.role}\n{turn.content}" for turn in doc.turns]


def save_tokenizer(tokenizer, folder: str | os.PathLike) -> None:
    """Writes tokenizer.json and tokenizer_config.json, ready for `transformers`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 2048, "pad_token": "<|pad|>",
        "mask_token": "<|mask|>", "eos_token": "<|im_end|>", "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def make_tokenizer(
    folder: str | os.PathLike, seed: int = 0, documents: int = 20_000, prose: Prose | None = None
) -> None:
    """Trains on the training split and saves to a folder."""
    save_tokenizer(train_tokenizer(corpus_texts(Corpus(seed, prose), documents)), folder)


def _kept(texts: Iterable[str]) -> Iterator[str]:
    # Characters outside the alphabet are spelt in bytes; learning them would cost a token each.
    other = re.compile(f"[^{re.escape(ALPHABET)}]")
    for text in texts:
        yield other.sub(" ", text)
