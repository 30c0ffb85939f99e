"""One loaded model and the loop of a run: prompt in, typed events out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from threading import Event as Flag
from threading import Lock
from typing import Any

import torch

from clover_viz import asked, generation_config
from clover_viz.decoding.autoregressive import autoregress
from clover_viz.decoding.denoise import denoise
from clover_viz.decoding.passes import Passes, Request, milliseconds
from clover_viz.decoding.rules import left_open
from clover_viz.decoding.speculative import speculate
from clover_viz.decoding.stopwatch import Stopwatch
from clover_viz.errors import UserError
from clover_viz.events import SCHEMA, Event, KernelChoice, PassCounts, Prefilled, RunFinished, RunStarted
from clover_viz.model.graphs import check as check_graphs
from clover_viz.model.graphs import choose as choose_steps
from clover_viz.model_passes import Cancelled, ModelPasses, Remembered
from clover_viz.settings import MODES, DenoiseSettings, Limits, Settings, SpeculativeSettings, check_block_size, usual
from clover_viz.transcript import Transcript

DEVICES = "auto, cpu, cuda or cuda:N"
DTYPES = ("auto", "float32", "bfloat16", "float16")
WAIT = 0.05  # seconds between two looks at `cancel` while another run has the model


class Engine:
    """A model, its tokenizer, and a lock: one run at a time, the next one waits.

    kernels: what runs the operations and why (`name`, `reason`). generation: the checkpoint's generation config.
    graphs: whether the passes are captured graphs over a static cache ("on", "off"), and why.
    end_ids: tokens that end a text. checkpoint: the checkpoint's value of each setting.
    """

    def __init__(
        self, model, tokenizer, kernels, name: str = "model", generation: Mapping[str, Any] | None = None,
        graphs: str = "auto",
    ):  # fmt: skip
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.kernels = KernelChoice(kernels.name, kernels.reason)
        with _refused():
            steps, why = choose_steps(model, graphs)
        self._steps, self.graphs = steps or model, KernelChoice("on" if steps else "off", why)
        generation = generation or {}
        self.end_ids = generation_config.end_ids(generation, model.config)
        self.checkpoint = generation_config.checkpoint_settings(generation, model.config)
        self._stats = model.kernels.token_stats
        self._lock = Lock()
        self._remembered: Remembered | None = None  # of the last run: the next turn of a conversation reads on from it

    @classmethod
    def load(
        cls,
        path: str | PathLike,
        device: str = "auto",
        dtype: str = "auto",
        kernels: str = "auto",
        revision: str | None = None,
        graphs: str = "auto",
    ) -> "Engine":
        """Loads a local folder, or a hub id at a revision. Raises UserError for an unknown device or dtype, or for
        graphs that cannot be.

        graphs: "auto" (off, until they have run on a card), "on" (a CUDA device and kernels="triton") or "off".
        """
        device = _device(device)
        if dtype not in DTYPES:
            raise UserError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
        with _refused():
            check_graphs(graphs, device)  # before a long load
        from clover_viz.model import checkpoint
        from clover_viz.tokenizer import Tokenizer

        examined = checkpoint.examine(path, device, dtype, kernels, revision)
        # Small files first, all of one folder: a fault in one is told before the weights are fetched.
        tokenizer, generation = Tokenizer.load(examined.folder), generation_config.read(examined.folder)
        model, choice = examined.read()
        name = Path(path).resolve().name if Path(path).is_dir() else str(path)
        return cls(model, tokenizer, choice, name, generation, graphs)

    def usual(self, mode: str) -> dict[str, Any]:
        """The value of each setting that is left out in a mode, by its name."""
        return usual(mode, self.checkpoint, torch.device(self.model.device).type)

    def generate(
        self,
        prompt_or_messages: str | Sequence[Any],
        settings: Settings = DenoiseSettings(),
        max_new_tokens: int = 256,
        stop: Sequence[str] = (),
        seed: int = 0,
        cancel: Flag | None = None,
        raw: bool = False,
        top: bool = False,
        gate: Callable[[], object] | None = None,
    ) -> Iterator[Event]:
        """The events of one run, from RunStarted to RunFinished.

        The prompt is a string (one user turn), a list of {"role", "content"} messages, or with `raw` a string or ids
        used as they are. Setting `cancel` ends the run before its next pass; so does closing the iterator, without a
        RunFinished. `top` adds the three likeliest tokens to every slot. `gate` is called before every pass but the
        first and may wait; its time is counted nowhere. Everything is checked here, before the first pass: raises
        UserError for a bad value, or a prompt that leaves no room in the context.
        """
        limits = Limits(max_new_tokens, stop, seed)
        if type(settings) not in MODES.values():
            raise UserError(f"settings must be {', '.join(k.__name__ for k in MODES.values())}, got {settings!r}")
        settings = settings.in_force(self.usual(settings.mode))
        if hasattr(settings, "block_size"):
            check_block_size(settings, self.model.config.block_size)
            if self._steps is not self.model:
                _check_buffers(settings.block_size, self.model.config.block_size)
        prompt = asked.prompt_ids(self.tokenizer, prompt_or_messages, raw, self.model.config.vocab_size)
        request = self.request(prompt, settings, limits, top)
        asked.check_room(request, settings.block_size if isinstance(settings, DenoiseSettings) else 1)
        return self._run(settings, limits, request, cancel, gate)

    def complete(self, *args, **kwargs) -> RunFinished:
        """`generate` to its end; the RunFinished event."""
        for event in self.generate(*args, **kwargs):
            pass
        return event

    def _run(self, settings: Settings, limits: Limits, request: Request, cancel, gate) -> Iterator[Event]:
        with self._turn(cancel) as held:
            if not held:  # another run has the model, and what is remembered of it
                yield self._started(settings, limits, request)
                yield RunFinished("cancelled", "", 0, PassCounts(), None, None, 0.0, 0.0)
                return
            watch = Stopwatch()
            hold = watch.outside(gate) if gate else None
            with closing(self._narrate(settings, limits, request, cancel, hold, watch)) as events:
                for event in events:
                    watch.pause()  # time in the hands of a slow consumer is not the engine's
                    yield event
                    watch.resume()

    @contextmanager
    def _turn(self, cancel: Flag | None):
        """Waits for the model and holds it. False when the run was cancelled while it waited."""
        while not self._lock.acquire(timeout=WAIT):
            if cancel is not None and cancel.is_set():
                yield False
                return
        try:
            yield True
        finally:
            self._lock.release()

    def _narrate(self, settings, limits: Limits, request: Request, cancel, hold, watch) -> Iterator[Event]:
        yield self._started(settings, limits, request)
        passes = ModelPasses(self._steps, getattr(settings, "coreset_top_p", None), cancel, hold)
        known, self._remembered = self._remembered, None  # what a failed pass leaves is not built on
        by = request.adjustments
        transcript = Transcript(
            self.tokenizer.detokenizer(), len(request.prompt), request.max_new_tokens, request.end_ids, limits.stop,
            (by.think_open, by.think_close), left_open(by, request.prompt),
        )  # fmt: skip
        cancelled, sound = False, True
        try:
            for event in self._events(settings, request, passes, known, watch.seconds):
                yield event
                yield from transcript.read(event)
                if transcript.reason == "stop":
                    break
        except Cancelled:
            cancelled = True
        except GeneratorExit:  # between two passes
            raise
        except BaseException:  # Ctrl-C too may have come in the middle of a write
            sound = False
            raise
        finally:
            if sound:
                self._remembered = passes.remembered() or known
        yield from transcript.finish()
        reason = "cancelled" if cancelled else transcript.reason or "length"
        yield _finished(reason, transcript, passes.counts(), watch.seconds())

    def _events(
        self, settings: Settings, request: Request, passes: ModelPasses, known: Remembered | None,
        clock: Callable[[], float],
    ) -> Iterator[Event]:  # fmt: skip
        began = clock()
        rows = passes.prefill(request.prompt, known)
        yield Prefilled(len(request.prompt), milliseconds(clock() - began))
        callables = Passes(
            passes.preview, passes.replay, passes.decode, passes.verify, passes.keep, self._stats, clock
        )  # fmt: skip
        if isinstance(settings, DenoiseSettings):
            yield from denoise(callables, settings, request)
        elif isinstance(settings, SpeculativeSettings):
            yield from speculate(callables, settings, request, rows)
        else:
            yield from autoregress(callables, request, rows)

    def _started(self, settings: Settings, limits: Limits, request: Request) -> RunStarted:
        return RunStarted(
            schema=SCHEMA,
            mode=settings.mode,
            model=self.name,
            device=str(self.model.device),
            kernels=self.kernels,
            prompt_tokens=len(request.prompt),
            settings=settings.as_dict() | limits.as_dict(),
            graphs=self.graphs,
        )

    def request(self, prompt: tuple[int, ...], settings: Settings, limits: Limits, top: bool) -> Request:
        """A run as the decoders see it; `asked.build` with this engine's model and tokenizer."""
        return asked.build(self.tokenizer, self.model.config, self.end_ids, prompt, settings, limits, top)


def _finished(reason: str, transcript: Transcript, passes: PassCounts, seconds: float) -> RunFinished:
    tokens = transcript.tokens
    return RunFinished(
        reason=reason,
        text=transcript.text,
        thinking=transcript.thinking or None,
        tokens=tokens,
        passes=passes,
        tokens_per_pass=tokens / passes.after_prefill if passes.after_prefill else None,
        tokens_per_preview=tokens / passes.preview if passes.preview else None,
        seconds=seconds,
        tokens_per_second=tokens / seconds if seconds > 0 else 0.0,
    )


@contextmanager
def _refused():
    """A ValueError about what was asked for is a UserError."""
    try:
        yield
    except ValueError as error:
        raise UserError(str(error)) from None


def _device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, index = str(name).partition(":")
    if kind not in ("cpu", "cuda") or (index and not (kind == "cuda" and index.isdecimal())):
        raise UserError(f"device must be {DEVICES}, got {name!r}")
    if kind == "cuda" and int(index or 0) >= torch.cuda.device_count():
        raise UserError(f"device must be one that is here ({torch.cuda.device_count()} CUDA devices), got {name!r}")
    return str(name)


def _check_buffers(block_size: int, most: int) -> None:
    """Raises UserError for a block that the buffers of captured passes, `most` tokens long, cannot hold."""
    if block_size > most:
        raise UserError(f"block_size must be at most {most} with graphs=on, got {block_size}")
