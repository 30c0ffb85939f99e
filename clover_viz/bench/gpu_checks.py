"""Every operation on this device, at a model's shapes, against its reference in fp64 or fp32 on fresh random inputs."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import torch

from clover_viz.bench.gpu_difference import NO_NUMBER
from clover_viz.bench.gpu_fault import fault
from clover_viz.model.clover import PREFILL_SEGMENT

# Error allowed: first part plus second times the value. bf16 results are one rounding away, fp32 sums many.
CLOSE = {torch.bfloat16: (1e-2, 1.6e-2), torch.float16: (2e-3, 2e-3), torch.float32: (2e-4, 2e-4)}
EXPERTS = 64  # at most, of which a check keeps an fp64 copy


class Case(NamedTuple):
    """A call of the kernels, and what it should give: tensors in the same order, integers to be equal."""

    name: str
    found: Callable[[], Iterable[torch.Tensor]]
    wanted: Callable[[], Iterable[torch.Tensor]]


class Draw:
    """Random tensors of one dtype, seeded."""

    def __init__(self, device: torch.device, dtype: torch.dtype, seed: int):
        self._generator = torch.Generator(device).manual_seed(seed)
        self._to = dict(device=device)
        self.dtype = dtype

    def __call__(self, *shape: int, scale: float = 1.0, dtype: torch.dtype | None = None) -> torch.Tensor:
        drawn = torch.randn(*shape, generator=self._generator, **self._to) * scale
        return drawn.to(dtype or self.dtype)

    def uniform(self, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=self._generator, **self._to)

    def choices(self, tokens: int, top_k: int, number: int) -> torch.Tensor:
        return self.uniform(tokens, number).topk(top_k).indices


def cases(config, kernels, draw: Draw) -> Iterator[Case]:
    """Each makes its inputs when it is asked for, so that only one's are in memory."""
    ref = _references()
    block, width, experts = config.block_size, config.hidden_size, min(config.num_experts, EXPERTS)
    heads, values = config.linear_num_value_heads, config.linear_value_head_dim
    key_heads, keys = config.linear_num_key_heads, config.linear_key_head_dim
    channels = 2 * key_heads * keys + heads * values

    for tokens in (block, 1):
        x, w = draw(tokens, width), draw(width, scale=0.2)
        yield Case(f"rms_norm, {tokens}", lambda: [kernels.rms_norm(x, w, 1e-6)], lambda: [ref.rms_norm(x, w, 1e-6)])
        y = draw(tokens, width)
        yield Case(f"add_rms_norm, {tokens}", lambda: kernels.add_rms_norm(x, y, w, 1e-6),
                   lambda: ref.add_rms_norm(x, y, w, 1e-6))  # fmt: skip
        # queries lie beside their gates
        h, w1 = draw(tokens, config.num_attention_heads, 2 * config.head_dim).chunk(2, -1)[0], draw(config.head_dim)
        yield Case(f"rms_norm, {tokens} of heads", lambda: [kernels.rms_norm(h, w1, 1e-6)],
                   lambda: [ref.rms_norm(h, w1, 1e-6)])  # fmt: skip
        o, z, w2 = draw(tokens, heads, values), draw(tokens, heads, values), draw(values)
        yield Case(f"gated_rms_norm, {tokens}", lambda: [kernels.gated_rms_norm(o, z, w2, 1e-6)],
                   lambda: [ref.gated_rms_norm(o, z, w2, 1e-6)])  # fmt: skip
        conv = draw(tokens, channels), draw(3, channels), draw(channels, 4), draw(channels, 3)
        yield Case(f"causal_conv, {tokens}", lambda: [kernels.causal_conv(*conv[:3])],
                   lambda: [ref.causal_conv(*_exact(conv[:3]))])  # fmt: skip
        gates = x, *(draw(heads, width, scale=width**-0.5) for _ in range(2)), draw(heads), draw(heads)
        yield Case(f"delta_gates, {tokens}", lambda: kernels.delta_gates(*gates),
                   lambda: ref.delta_gates(*_exact(gates)))  # fmt: skip
        shared = config.shared_expert_intermediate_size
        pair = draw(tokens, shared), draw(tokens, shared)
        yield Case(f"swiglu, {tokens}", lambda: [kernels.swiglu(*pair)], lambda: [ref.swiglu(*_exact(pair))])
        ends = x, y, draw(tokens, width), draw(1, width, scale=width**-0.5), draw(tokens, width)
        yield Case(f"add_shared_expert, {tokens}", lambda: [kernels.add_shared_expert(*ends)],
                   lambda: [ref.add_shared_expert(*_exact(ends))])  # fmt: skip
        if tokens == block:
            yield Case("block_conv", lambda: [kernels.block_conv(*conv)], lambda: [ref.block_conv(*_exact(conv))])

    def delta(tokens, layers=1):
        sizes = [layers * size for size in (key_heads * keys, key_heads * keys, heads * values)]
        q, k, v = draw(tokens, layers * channels).split(sizes, dim=-1)
        q, k = q.unflatten(-1, (-1, keys)), k.unflatten(-1, (-1, keys))
        g, beta = -draw.uniform(tokens, layers * heads), draw.uniform(tokens, layers * heads).to(draw.dtype)
        state = draw(layers * heads, keys, values, scale=0.3, dtype=torch.float32)
        return q, k, v.unflatten(-1, (-1, values)), g, beta, state

    for tokens in (block, 1):
        given = delta(tokens)
        yield Case(f"gated_delta, {tokens}", lambda: _flat(kernels.gated_delta(*given)),
                   lambda: _flat(ref.gated_delta(*given)))  # fmt: skip
    every = config.layer_types.count("linear_attention")  # a static cache advances all layers in one call
    for n, layers in ((block, every), (1, 1), (block // 2, 1), (block, 1)):
        given = delta(block, layers)
        update = ref.gated_delta(*given)[1]
        of = f" of {layers} layers" if layers > 1 else ""
        yield Case(f"gated_delta_advance, {n}{of}", lambda: [kernels.gated_delta_advance(given[-1], update, n)],
                   lambda: [ref.gated_delta_advance(given[-1], update, n)])  # fmt: skip
    mix = *given[:3], given[-1], *(draw(heads) for _ in range(3))
    yield Case("block_mix", lambda: [kernels.block_mix(*mix)], lambda: [ref.block_mix(*mix)])
    text = delta(PREFILL_SEGMENT + 1)
    yield Case("gated_delta_prefill", lambda: kernels.gated_delta_prefill(*text),
               lambda: ref.gated_delta_prefill(*text))  # fmt: skip

    top_k = config.num_experts_per_tok
    # softmax on another device may round to a tie, or out of one: in a long text logits are well apart
    ranks = draw.uniform(PREFILL_SEGMENT, config.num_experts).argsort(-1)
    apart = 6.0 * ranks / config.num_experts - 3.0
    yield Case(f"route, {PREFILL_SEGMENT}", lambda: kernels.route(apart, top_k), lambda: ref.route(apart.cpu(), top_k))
    for tokens in (1, block):  # and in so few rows of fp32 there is next to no tie
        logits = draw(tokens, config.num_experts, dtype=torch.float32)
        yield Case(f"route, {tokens}", lambda: kernels.route(logits, top_k), lambda: ref.route(logits.cpu(), top_k))
    for top_p in (0.5, 0.9, 1.0):
        yield Case(f"route_coreset, {top_p}", lambda: kernels.route_coreset(logits, top_k, top_p),
                   lambda: ref.route_coreset(logits.cpu(), top_k, top_p))  # fmt: skip

    inner = config.moe_intermediate_size
    enter, leave = draw(experts, 2 * inner, width, scale=width**-0.5), draw(experts, width, inner, scale=inner**-0.5)
    for tokens, none in ((1, 0), (block, 0), (block, 2), (PREFILL_SEGMENT, 0)):
        chosen = draw.choices(tokens, top_k, experts)
        weights = draw(tokens, top_k, dtype=torch.float32).softmax(-1)
        if none:  # as of a coreset smaller than K; anywhere, so that a token's first choice may be none
            weights.scatter_(1, draw.choices(tokens, none, top_k), 0.0)
        hidden, rounded = draw(tokens, width), weights.to(draw.dtype)
        yield Case(f"moe_experts, {tokens}" + (f", {none} weights 0" if none else ""),
                   lambda: [kernels.moe_experts(hidden, chosen, weights, enter, leave)],
                   lambda: [ref.moe_experts(*_exact((hidden, chosen, rounded, enter, leave)))])  # fmt: skip
    for tokens in (1, block):
        rows = draw(tokens, config.vocab_size, dtype=torch.float32, scale=3.0)
        yield Case(f"token_stats, {tokens}", lambda: kernels.token_stats(rows, config.mask_token_id),
                   lambda: ref.token_stats(rows, config.mask_token_id))  # fmt: skip


@torch.inference_mode()
def check(case: Case) -> dict[str, Any]:
    """One case: its largest error, and its largest error over what is allowed there (up to 1 passes)."""
    largest = worst = 0.0
    for found, wanted in zip(case.found(), case.wanted(), strict=True):
        allowed, relative = CLOSE[found.dtype] if found.is_floating_point() else (0.0, 0.0)
        wanted = wanted.to(found.device).double()
        if found.shape != wanted.shape:
            raise ValueError(f"{case.name}: {list(found.shape)}, expected {list(wanted.shape)}")
        error = (found.double() - wanted).abs()
        error = torch.where(error.isfinite(), error, NO_NUMBER)
        over = error / (allowed + relative * wanted.abs()) if found.is_floating_point() else error * 1e30
        largest, worst = max(largest, error.max().item()), max(worst, over.max().item())
    return {"error": largest, "of_allowed": worst, "passed": worst <= 1.0}


def run(
    config, kernels, device: torch.device, seed: int, over: Callable[[], bool],
    saved: Callable[[dict], None] = lambda found: None,
) -> dict[str, Any]:  # fmt: skip
    """All cases in bf16, then in fp32, until `over` says so. `left`: cases that were not reached.

    A result has its largest error, also as a part of what is allowed, or the "fault" that kept it from having one.
    `saved` gets everything there is after every result: an error that ends the process, or all use of the card, takes
    none of them along.
    """
    found: dict[str, Any] = {"seed": seed, "results": [], "left": 0}
    for dtype in (torch.bfloat16, torch.float32):
        for name, told in _results(_made(config, kernels, device, dtype, seed), over):
            if told is None:
                found["left"] += 1
                continue
            found["results"].append({"case": name, "dtype": str(dtype).removeprefix("torch."), **told})
            saved(found)
    return found


def _made(config, kernels, *drawn) -> Iterator[Case]:
    """The cases; also a generator of random numbers is only made when the first is asked for."""
    yield from cases(config, kernels, Draw(*drawn))


def _results(cases: Iterator[Case], over: Callable[[], bool]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Each case and what became of it, None where no time was left. The last one may be that no more could be made."""
    while True:
        try:
            case = next(cases, None)
        except Exception as error:  # a card that failed in one case makes no inputs for the next
            yield "the cases that follow", _faulty(error)
            return
        if case is None:
            return
        if over():
            yield case.name, None
            continue
        try:
            told = check(case)
        except Exception as error:  # of a compiler or a driver: the other operations may still be right
            told = _faulty(error)
        yield case.name, told


def _faulty(error: Exception) -> dict[str, Any]:
    return {"passed": False, "fault": fault(error, 200)}


def _references():
    """Every reference under its name, as a KernelSet has them."""
    return import_module("clover_kernels.selection").select("cpu", "reference")


def _exact(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    return [t.double() if t.is_floating_point() else t for t in tensors]


def _flat(out) -> list[torch.Tensor]:
    """o and the update of a pass."""
    return [out[0], *out[1]]
