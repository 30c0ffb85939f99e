// The browser's fold: records in (clover_viz/ui/records.py says what they hold), the state of every block out.
// Append-only: folding the first n records of a run gives the board as it was after n events.
class Fold {
  constructor() {
    this.records = [];
    this.run = null; // the `run` record
    this.end = null; // the `end` record
    this.coming = null; // the `end` record of the whole run, while this is the fold of a part
    this.blocks = [];
    this.passes = { prefill: 0, preview: 0, replay: 0, verify: 0, decode: 0 };
    this.ms = 0;
    this.taken = 0; // tokens of self-speculation so far
    this.brought = 0; // those of its rounds: the first token is the prompt pass's own
  }

  get speculative() {
    return Boolean(this.run) && this.run.mode === "speculative";
  }

  // One token at a time: no block, so no experts to choose for it and no trail of guesses.
  get onePerPass() {
    return Boolean(this.run) && this.run.mode === "autoregressive";
  }

  // Rounds of self-speculation that were verified.
  get rounds() {
    return this.blocks.filter((block) => block.boundary);
  }

  get last() {
    return this.records[this.records.length - 1];
  }

  get block() {
    return this.blocks[this.blocks.length - 1];
  }

  add(record) {
    this.records.push(record);
    this.ms += record.ms || 0;
    const take = this["on_" + record.k];
    if (take) take.call(this, record);
  }

  on_run(record) {
    this.run = record;
  }

  on_prefill() {
    this.passes.prefill += 1;
  }

  on_open({ b, at, n }) {
    this.close();
    this.blocks.push({ index: b, at, slots: Array.from({ length: n }, masked), steps: [], closed: false, kept: n });
  }

  on_step(record) {
    const block = this.block;
    for (const [slot, id, token, confidence] of record.g || []) {
      Object.assign(block.slots[slot], { state: "given", id, token, confidence });
    }
    for (const [slot, id, token, confidence, top] of record.w) {
      const place = block.slots[slot];
      Object.assign(place, { id, token, confidence, top });
      place.trail.push([record.s, confidence, token]);
    }
    for (const slot of record.c) {
      Object.assign(block.slots[slot], { state: "committed", step: record.s, forced: Boolean(record.f) });
    }
    this.passes.preview += 1;
    this.stepped(block, record);
  }

  on_replay({ n }) {
    this.passes.replay += 1;
    this.block.kept = n;
    this.close();
  }

  // A round of self-speculation: the boundary token is given, a preview drafts the slots behind it.
  on_draft({ b, s, at, g: [id, token], w, x, ms }) {
    if (s === 1) {
      this.on_open({ b, at, n: w.length + 1 });
      Object.assign(this.block, { round: true, boundary: null, accepted: 0, touched: [] });
      Object.assign(this.block.slots[0], { state: "given", id, token, confidence: 1 });
      if (!this.taken) this.taken = 1; // the first boundary is the prompt pass's own
    }
    for (const [slot, id, token, confidence, top] of w) {
      const place = this.block.slots[slot];
      Object.assign(place, { state: "draft", id, token, confidence, top });
      place.trail.push([s, confidence, token]);
    }
    this.passes.preview += 1;
    this.stepped(this.block, { s, c: [], x, ms });
  }

  on_verify({ n, v, w: [id, token, confidence], t }) {
    const { block } = this;
    v.forEach(([probability, entropy, bar, top], at) => {
      const state = at < n ? "committed" : at === n ? "rejected" : "discarded";
      Object.assign(block.slots[at + 1], { state, step: at < n ? 1 : 0, check: { probability, entropy, bar, top } });
    });
    Object.assign(block, { boundary: { id, token, confidence }, accepted: n, touched: t });
    this.taken += n + 1;
    this.brought += n + 1;
    this.passes.verify += 1;
    this.close();
  }

  // One token at a time: the row of slots is a window on the text, and every token is a step of its own.
  on_token({ p, w: [id, token, confidence], ms }) {
    const size = 32;
    const start = this.run ? this.run.prompt : 0;
    if (!this.block || this.block.round || p - this.block.at >= size) {
      this.on_open({ b: this.blocks.length, at: p, n: size });
      this.block.window = true;
    }
    const slot = p - this.block.at;
    const step = slot + 1;
    this.taken += 1;
    Object.assign(this.block.slots[slot], { state: "committed", id, token, confidence, step, forced: false });
    this.block.slots[slot].trail.push([step, confidence, token]);
    this.passes.decode += p > start ? 1 : 0; // the first token is the prompt pass's own
    this.stepped(this.block, { s: step, c: [slot], ms });
  }

  on_end(record) {
    this.end = record;
    this.passes = record.passes;
    if (!this.block || record.reason === "cancelled") return; // a stopped block stays as it stood
    this.block.kept = this.covered(this.block, record);
    if (this.endsIn(this.block)) {
      for (const slot of this.block.slots) if (slot.state === "rejected") slot.state = "discarded";
    }
    this.close();
  }

  // Slots of a block that hold text, or the end token, once it is known where the run ends.
  covered(block, { tokens, reason }) {
    const told = tokens + (reason === "end" ? 1 : 0); // the end token has a slot and no text
    return Math.min(block.slots.length, Math.max(0, this.run.prompt + told - block.at));
  }

  // Whether the text ends among the drafts that a round kept: the one behind them was not refused, it came too late.
  endsIn(block) {
    const end = this.end || this.coming;
    if (!end || end.reason === "cancelled" || !block.boundary) return false;
    return this.covered(block, end) <= block.accepted + 1;
  }

  stepped(block, { s, c, f, x, ms }) {
    const left = block.slots.filter((slot) => slot.state === "masked").length;
    block.steps.push({ step: s, committed: c, forced: Boolean(f), left, experts: x && x[0].length ? x : null, ms });
  }

  close() {
    if (this.block) this.block.closed = true;
  }

  // [touched, kept, rerouted] by layer of the block's last step; of the block before it while it has none.
  expertsOf(block) {
    for (let at = block ? block.index : -1; at >= 0; at -= 1) {
      const { steps } = this.blocks[at];
      if (steps.length) return steps[steps.length - 1].experts;
    }
    return null;
  }

  // Tokens fixed so far; the run's own count, which leaves out the end token, once there is one.
  get tokens() {
    if (this.end) return this.end.tokens;
    if (this.speculative) return this.taken;
    let count = 0;
    for (const block of this.blocks) for (const slot of block.slots) count += slot.state === "committed" ? 1 : 0;
    return count;
  }

  get tokensPerRound() {
    const brought = this.end ? Math.min(this.brought, Math.max(0, this.end.tokens - 1)) : this.brought;
    return this.rounds.length ? brought / this.rounds.length : null;
  }

  get passesAfterPrefill() {
    const { preview, replay, verify, decode } = this.passes;
    return preview + replay + verify + decode;
  }

  // What just happened, in plain words.
  get words() {
    const last = this.last;
    if (!last) return "";
    const block = this.block ? this.block.index + 1 : 0;
    if (last.k === "run") {
      return tell("Reading the prompt: {n} token. | Reading the prompt: {n} tokens.", { n: last.prompt });
    }
    if (last.k === "prefill") {
      const said = "The prompt is read: {n} token in the cache. | The prompt is read: {n} tokens in the cache.";
      return tell(said, { n: last.n });
    }
    if (last.k === "open") return tell("Block {block}: {n} slots, all masked.", { block, n: last.n });
    if (last.k === "step") return this.stepWords();
    if (last.k === "draft") return this.draftWords(last);
    if (last.k === "verify") return this.verifyWords();
    if (last.k === "replay") {
      const one = "Block {block} is done after {n} step; one causal pass replayed it into the cache.";
      return tell(`${one} | ${one.replace("step;", "steps;")}`, { block, n: this.block.steps.length });
    }
    if (last.k === "token") {
      const values = { count: this.tokens, token: quoted(last.w[1]), sure: two(last.w[2]) };
      const first = this.passes.decode === 0;
      const how = first ? "The prompt's own pass gives it." : "One pass, one token.";
      return tell(`Token {count}: {token} at {sure}. ${how}`, values);
    }
    if (last.k === "end") return this.endWords();
    return "";
  }

  stepWords() {
    const { step, committed, forced, left } = this.block.steps[this.block.steps.length - 1];
    const bar = this.run.set.threshold;
    const values = { step, bar, n: committed.length, rest: left ? tell("{left} left", { left }) : tell("none left") };
    if (forced) {
      const { token, confidence } = this.block.slots[committed[0]];
      const said = "Step {step}: nothing over {bar}; the surest, {token} at {sure}, was forced; {rest}.";
      return tell(said, { ...values, token: quoted(token), sure: two(confidence) });
    }
    return tell("Step {step}: {n} slot over {bar}; {rest}. | Step {step}: {n} slots over {bar}; {rest}.", values);
  }

  draftWords({ b, s, g, w }) {
    const name = s > 1 ? "Round {round}, preview {preview}" : "Round {round}";
    const said = `${name}: one preview drafts {n} token behind {token}.`;
    const values = { round: b + 1, preview: s, n: w.length, token: quoted(g[1]) };
    return tell(`${said} | ${said.replace("{n} token", "{n} tokens")}`, values);
  }

  verifyWords() {
    const { index, slots, accepted, boundary } = this.block;
    const values = { round: index + 1, n: accepted, total: slots.length - 1, next: quoted(boundary.token) };
    const plural = (said) => `${said} | ${said.replace("{n} draft", "{n} drafts")}`;
    if (this.endsIn(this.block)) {
      return tell(plural("Round {round}: {n} draft of {total} kept; the text ends there."), values);
    }
    if (accepted === slots.length - 1) {
      return tell(plural("Round {round}: all {n} draft kept, and {next} comes free."), values);
    }
    const { token, check } = slots[accepted + 1];
    values.token = quoted(token);
    const kept = "Round {round}: {n} draft of {total} kept; then ";
    if (check.bar === null) return tell(plural(`${kept}the causal pass writes {next}, not {token}.`), values);
    const low = "{token} at {p} is under its bar of {bar}, and the causal pass writes {next}.";
    return tell(plural(kept + low), { ...values, p: two(check.probability), bar: two(check.bar) });
  }

  endWords() {
    const { reason, tokens, per } = this.end;
    const how = { cancelled: "Stopped", length: "Cut at the limit", stop: "Stop text met" }[reason] || "Finished";
    const values = { how: tell(how), tokens: tell("{n} token | {n} tokens", { n: tokens }) };
    values.passes = tell("{n} pass | {n} passes", { n: this.passesAfterPrefill });
    if (per === null) return tell("{how}: {tokens} in {passes}.", values);
    return tell("{how}: {tokens} in {passes}, {per} a pass.", { ...values, per: two(per) });
  }
}

// The fold of the first `length` records of `whole`; goes on from `fold` where that is a shorter prefix of its own.
function prefix(whole, length, fold) {
  const on = fold === whole || fold.records.length > length || fold.records[0] !== whole.records[0] ? new Fold() : fold;
  on.coming = whole.end;
  for (const record of whole.records.slice(on.records.length, length)) on.add(record);
  return on;
}

function masked() {
  return { state: "masked", id: null, token: "", confidence: 0, step: 0, forced: false, trail: [] };
}

function two(number) {
  return number.toFixed(2);
}

// A token with its blanks made visible.
function shown(token) {
  return token.replace(/ /g, "\u00b7").replace(/\r?\n/g, "\u21b5").replace(/\t/g, "\u21e5");
}

function quoted(token) {
  return `\u201c${shown(token)}\u201d`;
}
