"""The training run: seeded, resumable, one process a core."""

import json
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist

from clover_viz.training.batches import Batches
from clover_viz.training.objective import losses
from clover_viz.training.optimizers import optimizers, set_rate
from clover_viz.training.plan import Plan

SAVE_SECONDS = 240
LOG_STEPS = 10


class Worker:
    """One of `plan.accumulate` or fewer equal processes. Each computes its share of a step's micro-batches; gradients
    are summed over all, so that every worker takes the same step and holds the same weights."""

    def __init__(self, model, batches: Batches, end_id: int, plan: Plan, folder: Path, rank: int, workers: int):
        self.model, self.batches, self.end_id, self.plan = model, batches, end_id, plan
        self.folder, self.rank, self.workers = folder, rank, workers
        self.optimizers = optimizers(model, plan)
        self.step = 0

    @property
    def state_file(self) -> Path:
        return self.folder / "state.pt"

    def resume(self) -> None:
        """Go on from the last state in the folder, if there is one."""
        if self.state_file.exists():
            state = torch.load(self.state_file, weights_only=True)
            self.model.load_state_dict(state["model"])
            for optimizer, saved in zip(self.optimizers, state["optimizers"]):
                optimizer.load_state_dict(saved)
            self.step = state["step"]

    def save(self) -> None:
        """Write the state in one move: a killed run leaves the previous one whole."""
        state = {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
        }
        scratch = self.state_file.with_suffix(".new")
        torch.save(state, scratch)
        os.replace(scratch, self.state_file)

    def gradients(self) -> torch.Tensor:
        """Gradients of one step, summed over all workers; returns the mean losses [5] of the step."""
        plan = self.plan
        means = torch.zeros(5)
        for part in range(self.rank, plan.accumulate, self.workers):
            index = self.step * plan.accumulate + part
            batch = self.batches[index]
            joint = self.step >= plan.causal_steps
            seed, follow = plan.seed * 1_000_003 + index, self.step >= plan.follow_from
            found = losses(self.model, batch, self.end_id, joint, seed, follow)
            (found.total / plan.accumulate).backward()
            means += torch.stack([x.detach().float() for x in found]) / plan.accumulate
        parameters = [p for p in self.model.parameters()]
        for p in parameters:
            if p.grad is None:  # the diffusion tensors, while only the causal loss runs
                p.grad = torch.zeros_like(p)
        if self.workers > 1:
            flat = torch.cat([p.grad.flatten() for p in parameters] + [means])
            dist.all_reduce(flat)
            means = flat[-5:].clone()
            offset = 0
            for p in parameters:
                p.grad.copy_(flat[offset : offset + p.numel()].view_as(p))
                offset += p.numel()
        return means

    def run(self, until: int | None = None) -> None:
        """Train to the end of the plan, or to step `until`. Saves every few minutes and at the end."""
        saved, began = time.monotonic(), time.monotonic()
        log = open(self.folder / "log.jsonl", "a") if self.rank == 0 else None
        means = []
        while self.step < (until or self.plan.steps):
            set_rate(self.optimizers, self.plan, self.step)
            found = self.gradients()
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
            if not torch.isfinite(norm):
                raise RuntimeError(f"training: gradient of step {self.step} is not finite")
            for optimizer in self.optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            self.step += 1
            if self.rank:
                continue
            means.append(torch.cat((found, norm[None])))
            if self.step % LOG_STEPS == 0:
                row = torch.stack(means).mean(0).tolist()
                names = ("total", "causal", "masked", "right", "sure", "norm")
                entry = {"step": self.step} | {name: round(x, 4) for name, x in zip(names, row)}
                entry["seconds_per_step"] = round((time.monotonic() - began) / LOG_STEPS, 3)
                began, means = time.monotonic(), []
                print(json.dumps(entry), file=log, flush=True)
            if time.monotonic() - saved > SAVE_SECONDS:
                self.save()
                saved = time.monotonic()
        if self.rank == 0:
            self.save()
