"""The processes of a training run, and the checkpoint made of its last state."""

import json
import shutil
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from clover_viz.config import CloverConfig
from clover_viz.model.clover import CloverForCausalLM
from clover_viz.tokenizer import Tokenizer
from clover_viz.training.batches import Batches
from clover_viz.training.data import Corpus, encode_batch
from clover_viz.training.experts import training_kernels
from clover_viz.training.loop import Worker
from clover_viz.training.plan import TINY, Plan
from clover_viz.training.prose import Prose
from clover_viz.training.start import begin


def tiny_config(tokenizer: Tokenizer) -> CloverConfig:
    end = tokenizer.token_id("<|im_end|>")
    return CloverConfig(
        **TINY, vocab_size=tokenizer.vocab_size, mask_token_id=tokenizer.mask_token_id, eos_token_id=end,
        pad_token_id=tokenizer.token_id("<|pad|>"), architectures=["CloverForCausalLM"],
    )  # fmt: skip


def train(work: Path, prose: str, workers: int, until: int | None, plan: Plan = Plan()) -> None:
    """Run the plan in `workers` processes, from the last state in `work` if there is one."""
    if workers == 1:
        _worker(0, 1, work, prose, until, plan)
    else:
        meeting = work / "meeting"
        meeting.unlink(missing_ok=True)
        mp.spawn(_worker, args=(workers, work, prose, until, plan), nprocs=workers)


def _worker(rank: int, workers: int, work: Path, prose: str, until: int | None, plan: Plan) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # decays soon fall below what a CPU multiplies at full speed
    if workers > 1:
        meeting = f"file://{(work / 'meeting').resolve()}"
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=workers)
    tokenizer = Tokenizer.load(str(work / "tokenizer"))
    config = tiny_config(tokenizer)
    corpus = Corpus(plan.seed, Prose.load(prose))
    batches = Batches(
        lambda indices: encode_batch([corpus.document("train", i) for i in indices], tokenizer),
        config.block_size, config.pad_token_id, plan.seed,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    model = CloverForCausalLM(config, training_kernels())
    begin(model, plan)
    worker = Worker(model, batches, config.eos_token_id, plan, work, rank, workers)
    worker.resume()
    worker.run(until)
    if workers > 1:
        dist.destroy_process_group()


def export(work: Path, out: Path) -> None:
    """Write the state's weights as a bf16 checkpoint, with the tokenizer and the generation settings beside it."""
    tokenizer = Tokenizer.load(str(work / "tokenizer"))
    model = CloverForCausalLM(tiny_config(tokenizer))
    model.load_state_dict(torch.load(work / "state.pt", weights_only=True)["model"])
    out.mkdir(parents=True, exist_ok=True)
    model.to(torch.bfloat16).save_pretrained(out)
    generation = {"eos_token_id": model.config.eos_token_id, "pad_token_id": model.config.pad_token_id}
    (out / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(work / "tokenizer" / name, out / name)
