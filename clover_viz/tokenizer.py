"""Text to ids and back, for byte-level tokenizers (Qwen, GPT-2) and byte-fallback ones (clover-tiny)."""

from __future__ import annotations

import codecs
import json
import os
import re
from functools import cached_property
from pathlib import Path

from clover_viz.errors import UserError

ROLES = ("system", "user", "assistant", "tool")
BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


class TokenizerError(UserError):
    """A tokenizer that cannot be loaded, or a conversation it cannot write; one line that says why."""


class Tokenizer:
    """Wraps a `transformers` fast tokenizer; every text of a user is encoded as plain text unless said otherwise."""

    def __init__(self, fast):
        self.fast = fast
        self.backend = fast.backend_tokenizer
        self.added = {i: token for i, token in self.backend.get_added_tokens_decoder().items()}
        self._by_literal = {token.content: i for i, token in self.added.items()}
        self._special_ids = frozenset(i for i, token in self.added.items() if token.special)
        literals = sorted(self._by_literal, key=len, reverse=True)
        self._literals = re.compile("|".join(map(re.escape, literals)) or r"(?!)")
        self._bytes: dict[int, bytes] = {}
        self._to_bytes = _byte_reader(self.backend)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Tokenizer:
        """Reads a folder, never touching the network. Raises TokenizerError naming the file."""
        folder = Path(folder)
        _check_json(folder / "tokenizer.json", required=True)
        _check_json(folder / "tokenizer_config.json", required=False)
        from transformers import PreTrainedTokenizerFast

        try:
            # The file decides, not a Python class that a name picks: no code from a model repository is run.
            fast = PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)
        except Exception as error:
            where = folder / "tokenizer.json"
            raise TokenizerError(f"cannot load the tokenizer {where}: {_one_line(error)}") from error
        return cls(fast)

    @property
    def vocab_size(self) -> int:
        return self.backend.get_vocab_size(with_added_tokens=True)

    @property
    def mask_token_id(self) -> int | None:
        return self.fast.mask_token_id

    def token_id(self, literal: str) -> int | None:
        """The id of one whole token by its literal, such as `</think>`; None when there is no such token."""
        return self.backend.token_to_id(literal)

    def encode(self, text: str) -> list[int]:
        """Ids of plain text: `<|im_end|>` typed in it is seven characters and two bars, never the end token."""
        return self._plain.encode(_sound(text), add_special_tokens=False).ids

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [e.ids for e in self._plain.encode_batch_fast([_sound(t) for t in texts], add_special_tokens=False)]

    def encode_raw(self, text: str) -> list[int]:
        """Ids of text in which special literals are the special tokens."""
        return self.backend.encode(_sound(text), add_special_tokens=False).ids

    def chat(self, messages, add_generation_prompt: bool = True) -> list[int]:
        """Ids of a conversation [{"role", "content"}...] in the tokenizer's own chat template.

        Special literals inside contents stay plain text: the template is rendered with private-use characters in
        their place, so only the literals of the template itself can become special ids. In an assistant's content
        literals that are not special (Qwen's `</think>`) are left, because templates look for them.
        """
        if not getattr(self.fast, "chat_template", None):
            raise TokenizerError("this tokenizer has no chat template: give the prompt as raw text")
        messages = [_checked(message, i) for i, message in enumerate(messages)]
        if not messages:
            raise TokenizerError("messages must hold at least one message, got none")
        stand_ins = _StandIns("".join(m["content"] for m in messages), self.fast.chat_template)
        hidden = [{**m, "content": self._hide(m, stand_ins)} for m in messages]
        try:
            text = self.fast.apply_chat_template(hidden, tokenize=False, add_generation_prompt=add_generation_prompt)
        except Exception as error:
            raise TokenizerError(f"the chat template refused these messages: {_one_line(error)}") from error

        ids: list[int] = []
        start = 0
        for match in self._literals.finditer(text):
            if match.start() > start:
                ids += self.encode(stand_ins.restore(text[start : match.start()]))
            ids.append(self._by_literal[match.group()])
            start = match.end()
        return ids + (self.encode(stand_ins.restore(text[start:])) if start < len(text) else [])

    def decode(self, ids) -> str:
        """The text of ids, special tokens skipped; bytes that are no character become U+FFFD."""
        return b"".join(self.token_bytes(int(i)) for i in ids).decode("utf-8", errors="replace")

    def printable(self, token_id: int) -> str:
        """One token for display: its text, `<0xE2>` for a byte that is not a whole character, a special by its name."""
        if token_id in self.added:
            return self.added[token_id].content
        if self.backend.id_to_token(token_id) is None:
            return f"<id {token_id}>"
        return self.token_bytes(token_id).decode("utf-8", errors="clover_byte_names")

    def detokenizer(self) -> Detokenizer:
        return Detokenizer(self)

    def token_bytes(self, token_id: int) -> bytes:
        """UTF-8 bytes a token adds to the text; empty for special tokens and for ids without a token."""
        found = self._bytes.get(token_id)
        if found is None:
            found = self._bytes[token_id] = self._read(token_id)
        return found

    def _read(self, token_id: int) -> bytes:
        if token_id in self.added:
            return b"" if token_id in self._special_ids else self.added[token_id].content.encode()
        token = self.backend.id_to_token(token_id) if token_id >= 0 else None
        return b"" if token is None else self._to_bytes(token)

    def _hide(self, message: dict, stand_ins: _StandIns) -> str:
        def swap(match):
            literal = match.group()
            keep = message["role"] == "assistant" and self._by_literal[literal] not in self._special_ids
            return literal if keep else stand_ins.of(literal)

        return self._literals.sub(swap, message["content"])

    @cached_property
    def _plain(self):
        # A second backend without added tokens: a flag on the shared one would be seen by other threads.
        from tokenizers import Tokenizer as Backend

        spec = json.loads(self.backend.to_str())
        spec.update(added_tokens=[], post_processor=None, truncation=None, padding=None)
        return Backend.from_str(json.dumps(spec))


class Detokenizer:
    """Append-only text from ids: deltas joined with the flush equal `decode` of all ids, at constant cost a token."""

    def __init__(self, tokenizer: Tokenizer):
        self._token_bytes = tokenizer.token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token_id: int) -> str:
        """Text that became certain with this token; bytes of an unfinished character wait for the rest of it."""
        return self._decoder.decode(self._token_bytes(int(token_id)))

    def flush(self) -> str:
        """What was held back, as U+FFFD when it never became a character; afterwards the detokenizer is new."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest


class _StandIns:
    """One private-use character per literal, none of which occurs in the conversation or its template."""

    def __init__(self, contents: str, template):
        taken = set(contents) | set(str(template))
        self._free = (chr(c) for c in range(0xF0000, 0x10FFFE) if chr(c) not in taken)
        self._of: dict[str, str] = {}

    def of(self, literal: str) -> str:
        if literal not in self._of:
            self._of[literal] = next(self._free)
        return self._of[literal]

    def restore(self, text: str) -> str:
        for literal, stand_in in self._of.items():
            text = text.replace(stand_in, literal)
        return text


def _byte_reader(backend):
    decoder = json.dumps(json.loads(backend.to_str())["decoder"])
    if "ByteLevel" in decoder:
        table = {char: byte for byte, char in enumerate(_byte_alphabet())}
        return lambda token: bytes(table[c] for c in token) if all(c in table for c in token) else token.encode()
    if "ByteFallback" in decoder and "Metaspace" not in decoder and "Replace" not in decoder:
        return _fallback_bytes
    raise TokenizerError(f"this tokenizer's decoder must be ByteLevel or ByteFallback + Fuse, got {decoder[:80]}")


def _fallback_bytes(token: str) -> bytes:
    match = BYTE_TOKEN.fullmatch(token)
    return bytes([int(match.group(1), 16)]) if match else token.encode()


def _byte_alphabet() -> list[str]:
    """The GPT-2 alphabet: byte -> character, printable Latin-1 as itself, the other bytes from U+0100 upwards."""
    kept = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in kept else chr(next(others)) for byte in range(256)]


def _byte_names(error):
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("clover_byte_names", _byte_names)


def _sound(text: str) -> str:
    # Lone surrogates (possible in a Python string, never in UTF-8) would raise inside the backend.
    return text.encode("utf-8", "replace").decode() if any("\ud800" <= c <= "\udfff" for c in text) else text


def _checked(message, index: int) -> dict:
    role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
    if role not in ROLES:
        raise TokenizerError(f"messages[{index}].role must be one of {', '.join(ROLES)}, got {role!r}")
    if not isinstance(content, str):
        raise TokenizerError(f"messages[{index}].content must be a string, got {type(content).__name__}")
    return {**message, "content": _sound(content)}


def _check_json(path: Path, required: bool) -> None:
    if not path.is_file():
        if required:
            raise TokenizerError(f"tokenizer file is missing: {path}")
        return
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TokenizerError(f"tokenizer file is corrupt: {path}: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
