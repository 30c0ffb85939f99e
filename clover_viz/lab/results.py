"""Results of the evaluation as files: written, read, and the shards of one run put together again."""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from clover_viz.errors import UserError
from clover_viz.lab.eval import SCHEMA

LISTS = ("cases", "runs", "likelihood")
MODEL = ("model", "weights", "parameters", "active_parameters", "dtype", "device", "kernels")
HEAD = ("schema", *MODEL, "prompts", "settings")


def save(result: dict[str, Any], file: str | os.PathLike) -> None:
    """One JSON object with a line for each of its values, and for each prompt and run."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    values = {name: line(value) for name, value in result.items() if name not in LISTS}
    values |= {name: "[\n" + ",\n".join(map(line, result[name])) + "\n]" for name in LISTS}
    text = ",\n".join(f"{line(name)}: {value}" for name, value in values.items())
    Path(file).write_text("{\n" + text + "\n}\n", encoding="utf-8")


def load(file: str | os.PathLike) -> dict[str, Any]:
    """Raises UserError when the file is no result of this version."""
    try:
        result = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"a result must be a JSON file of `lab eval --json`, got {file}: {_line(error)}") from None
    schema = result.get("schema") if isinstance(result, dict) else None
    if schema != SCHEMA:
        raise UserError(f"a result must have schema {SCHEMA}, got {schema!r} in {file}")
    missing = [key for key in (*HEAD, *LISTS, "shard") if key not in result]
    if missing:
        raise UserError(f"a result must hold {', '.join(missing)}, got {file} without")
    return result


def merge(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The result of the whole run from those of its shards, in any order. Raises UserError when they do not belong
    together, or one is missing or given twice.
    """
    first = results[0]
    for key in HEAD:
        for other in results[1:]:
            if other[key] != first[key]:
                raise UserError(f"results to merge must have one {key}, got {first[key]!r} and {other[key]!r}")
    given = sorted(tuple(result["shard"]) for result in results)
    parts = given[0][1]
    if given != [(part, parts) for part in range(1, parts + 1)]:
        shown = ", ".join(f"{part}/{of}" for part, of in given)
        raise UserError(f"results to merge must be all shards of one run, each once, got {shown}")

    kinds, modes = list(first["prompts"]["counts"]), list(first["settings"])

    def place(record):
        return kinds.index(record.get("kind", "prose")), record["index"], modes.index(record.get("mode", modes[0]))

    joined = {name: sorted((r for result in results for r in result[name]), key=place) for name in LISTS}
    return {key: first[key] for key in HEAD} | {"shard": [1, 1]} | joined


def weights_digest(path: str | os.PathLike) -> str | None:
    """SHA-256 over the safetensors files of a local folder; None for a hub id, which its revision names."""
    if not Path(path).is_dir():
        return None
    digest = sha256()
    for file in sorted(Path(path).glob("*.safetensors")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
