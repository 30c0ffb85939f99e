// Draws a Fold on elements that are made once. Everything that comes from the model enters as textContent.
// A frame is {run, state, note, from, records}; drawing waits for the next animation frame and happens once for all
// frames that arrived meanwhile.
class Board {
  constructor(root, askFrom) {
    this.root = root;
    this.askFrom = askFrom; // called with a record number when records are missing from there on
    this.id = null;
    this.state = "idle";
    this.note = "";
    this.live = new Fold(); // every record that is here
    this.fold = this.live; // what is drawn: all of it, or of its first records
    this.at = null; // how many those are, once the visitor stepped back; null follows the run
    this.asking = 0; // a timer while records are missing
    this.pinned = null; // a block the visitor went back to; null follows the run
    this.drawnExperts = undefined; // the step on show
    this.build();
    this.draw();
  }

  // ---- frames in

  frame(text) {
    if (!text) return;
    const frame = JSON.parse(text);
    if (frame.run === null && this.id !== null && !frame.reset) return; // news of the model while a run is on show
    if (frame.run !== this.id) {
      this.id = frame.run;
      this.live = new Fold();
      this.seek(null);
      this.answered();
    }
    const have = this.live.records.length;
    if (frame.from > have) return this.ask();
    this.answered();
    this.state = frame.state;
    this.note = frame.note || "";
    this.held = Boolean(frame.held); // the run stands before its next pass until the visitor lets it go on
    for (const record of (frame.records || []).slice(have - frame.from)) this.live.add(record);
    this.soon();
  }

  // Shows the run as it was after its first `at` records; null follows it.
  seek(at) {
    this.at = at === null ? null : Math.min(Math.max(at, 0), this.live.records.length);
    this.fold = at === null ? this.live : prefix(this.live, this.at, this.fold);
    this.pinned = null;
    this.soon();
  }

  // Steps through the run while it goes on; the newest record is followed from there.
  step(by) {
    const all = this.live.records.length;
    const at = (this.at === null ? all : this.at) + by;
    this.seek(at < all ? at : null);
  }

  // The run as one frame, whole or stopped where it stands; null without a run.
  snapshot() {
    if (this.id === null) return null;
    const state = ["finished", "error"].includes(this.state) ? this.state : "stopped";
    return JSON.stringify({ run: this.id, state, from: 0, records: this.live.records });
  }

  // Asks for the records from the first that is missing, and again each second until they are here.
  ask() {
    if (this.asking) return;
    this.askFrom(this.live.records.length);
    this.asking = setTimeout(() => {
      this.asking = 0;
      this.ask();
    }, 1000);
  }

  answered() {
    clearTimeout(this.asking);
    this.asking = 0;
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  // ---- elements, made once

  build() {
    this.root.classList.add("cv-board");
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", tell("Block board"));
    const head = make(this.root, "div", "cv-head");
    this.title = make(head, "h2", "cv-title");
    this.chips = make(head, "div", "cv-blocks");
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", tell("Blocks of this answer"));
    this.words = make(head, "p", "cv-words");
    if (this.askFrom) this.buildPast(head);
    this.grid = make(this.root, "div", "cv-tiles");
    this.tiles = new Picker(this.grid, tell("Slots of the block, in reading order"), makeTile, () => this.soon());
    this.buildKey();
    this.buildInspector();
    const ruler = this.section(tell("Steps of this block"), "cv-ruler");
    const stepsBy = tell("Steps of the block, by the slots they committed");
    this.ruler = new Picker(ruler.body, stepsBy, makeStep, () => this.soon());
    this.rulerSays = ruler.says;
    this.rulerCaption = ruler.caption;
    const checks = this.section(tell("Verifier: the causal pass on each draft"), "cv-checks");
    const draftsBy = tell("Drafts, by the causal pass's probability");
    this.checks = new Picker(checks.body, draftsBy, makeCheck, () => this.soon());
    this.checksSay = checks.says;
    const experts = this.section(tell("Experts by layer"), "cv-experts");
    const layersBy = tell("Layers, by the experts touched and kept");
    this.experts = new Picker(experts.body, layersBy, makeLayer, () => this.soon());
    this.expertsSay = experts.says;
    this.buildMeters();
    this.aloud = make(this.root, "p", "cv-aloud");
    this.aloud.setAttribute("role", "status");
  }

  buildPast(head) {
    const node = make(head, "div", "cv-past");
    mark(node, "role", "group");
    mark(node, "aria-label", tell("Step through this run"));
    const button = (name, text, act) => {
      const made = make(node, "button", "cv-chip");
      made.type = "button";
      made.textContent = text;
      if (name) mark(made, "aria-label", name);
      made.addEventListener("click", act);
      return made;
    };
    const back = button(tell("Step back"), "\u2039", () => this.step(-1));
    const scrub = make(node, "input", "cv-scrub");
    Object.assign(scrub, { type: "range", min: 0, max: 0 });
    mark(scrub, "aria-label", tell("Events of this run"));
    scrub.addEventListener("input", () => this.step(Number(scrub.value) - (this.at ?? this.live.records.length)));
    const forward = button(tell("Step forward"), "\u203a", () => this.step(1));
    const says = make(node, "span", "cv-says");
    this.past = { node, back, scrub, forward, says, follow: button("", tell("Follow"), () => this.seek(null)) };
    this.past.follow.classList.add("cv-follow");
  }

  section(title, name) {
    const part = make(this.root, "div", "cv-part");
    const line = make(part, "div", "cv-line");
    const caption = make(line, "h3", "cv-caption");
    caption.textContent = title;
    const says = make(line, "p", "cv-says");
    return { says, caption, body: make(part, "div", name) };
  }

  buildKey() {
    this.key = make(this.root, "ul", "cv-key");
    for (const [name, text, mode] of [
      ["masked", "masked: its current preview", "denoise"],
      ["committed", "committed, with its step", "denoise"],
      ["forced", "forced: none over the bar", "denoise"],
      ["given", "given: the causal pass's own", "speculative"],
      ["draft", "draft of the preview", "speculative"],
      ["kept", "kept by the verifier", "speculative"],
      ["rejected", "the first it refused", "speculative"],
      ["discarded", "behind it, or behind the end: not kept", "speculative"],
    ]) {
      const item = make(this.key, "li");
      item.dataset.mode = mode;
      make(item, "span", `cv-sample cv-${name}`).setAttribute("aria-hidden", "true");
      make(item, "span").textContent = tell(text);
    }
  }

  buildInspector() {
    this.inspector = make(this.root, "div", "cv-inspector");
    this.glance = make(this.inspector, "div", "cv-glance");
    this.token = make(this.glance, "span", "cv-token");
    this.facts = make(this.glance, "span", "cv-facts");
    this.others = make(this.inspector, "p", "cv-others");
    this.trail = make(this.inspector, "p", "cv-trail");
    this.spark = drawn(this.inspector, "svg", { viewBox: "0 0 200 48", class: "cv-spark", "aria-hidden": "true" });
    drawn(this.spark, "line", { x1: 0, x2: 200, y1: 44.5, y2: 44.5, class: "cv-base" });
    this.bar = drawn(this.spark, "line", { x1: 0, x2: 200, class: "cv-bar" });
    this.curve = drawn(this.spark, "polyline", { class: "cv-curve" });
    this.dot = drawn(this.spark, "circle", { r: 3, class: "cv-dot" });
  }

  buildMeters() {
    const list = make(this.root, "dl", "cv-meters");
    this.meters = {};
    for (const [name, label] of [
      ["per", "tokens / pass"],
      ["round", "tokens / round"],
      ["rate", "tokens / s"],
      ["passes", "passes"],
      ["kept", "experts kept"],
      ["rerouted", "re-routed"],
    ]) {
      const meter = make(list, "div", "cv-meter");
      make(meter, "dt").textContent = tell(label);
      this.meters[name] = { value: make(meter, "dd", "cv-value"), rest: make(meter, "dd", "cv-rest") };
    }
  }

  // ---- drawing

  draw() {
    const { fold } = this;
    const block = this.pinned === null ? fold.block : fold.blocks[this.pinned];
    this.root.dataset.state = this.state;
    say(this.title, block ? this.named(block.index) : tell("Block board"));
    const mode = this.fold.speculative ? "speculative" : "denoise";
    for (const item of this.key.children) item.hidden = item.dataset.mode !== mode;
    say(this.words, this.sentence());
    if (this.past) this.drawPast();
    this.drawChips();
    this.drawTiles(block);
    this.drawInspector(block);
    if (this.fold.speculative) this.drawRounds();
    else this.drawRuler(block);
    this.drawChecks(block);
    this.drawExperts(block);
    this.drawMeters(block);
    this.speak();
  }

  drawPast() {
    const { node, back, scrub, forward, says, follow } = this.past;
    const all = this.live.records.length;
    const at = this.at ?? all;
    node.hidden = all < 2;
    Object.assign(scrub, { max: all, value: at });
    say(says, tell("event {at} of {total}", { at, total: all }));
    mark(scrub, "aria-valuetext", says.textContent);
    back.disabled = !at;
    forward.disabled = follow.disabled = this.at === null;
    say(follow, tell(["waiting", "running"].includes(this.state) ? "Follow" : "To the end"));
  }

  named(index) {
    return tell(this.fold.speculative ? "Round {n}" : "Block {n}", { n: index + 1 });
  }

  sentence() {
    if (this.at !== null && this.at < this.live.records.length) return this.fold.words || tell("Before the first event.");
    const last = { error: "The run ended with an error. Retry sends the message again.", stopped: "Stopped." };
    if (this.state === "stopped" && this.fold.end) return this.fold.words;
    const note = tell.text(this.note);
    const over = last[this.state] && tell(last[this.state]);
    const told = over || this.fold.words || note || tell(START[this.state] || "");
    if (this.held) return `${told} ${tell("Held: \u201cNext pass\u201d lets the model go on.")}`;
    return this.state === "running" && note && told !== note ? `${told} ${note}` : told;
  }

  drawChips() {
    const { blocks } = this.fold;
    const shownBlock = this.pinned === null ? blocks.length - 1 : this.pinned;
    this.chips.hidden = blocks.length < 2;
    while (this.chips.children.length > blocks.length) this.chips.lastChild.remove();
    blocks.forEach((block, at) => {
      const chip = this.chips.children[at] || this.makeChip(at);
      const steps = block.steps.length;
      const told = block.round ? tell("{n} kept", { n: block.accepted }) : tell("{n} step | {n} steps", { n: steps });
      say(chip.lastChild, block.round ? `+${block.accepted}` : `\u00d7${steps}`);
      mark(chip, "title", told);
      mark(chip, "aria-pressed", String(at === shownBlock));
      mark(chip, "aria-label", `${this.named(at)}, ${told}`);
    });
    const chip = this.chips.children[shownBlock];
    if (!chip || chip === this.chipInSight) return;
    this.chipInSight = chip; // only when it changes: the visitor may scroll them
    const { chips } = this;
    chips.scrollLeft = chip.offsetLeft + chip.offsetWidth + 8 - chips.offsetLeft - chips.clientWidth;
  }

  makeChip(at) {
    const chip = make(this.chips, "button", "cv-chip");
    chip.type = "button";
    make(chip, "b").textContent = String(at + 1);
    make(chip, "small");
    chip.addEventListener("click", () => {
      this.pinned = at === this.fold.blocks.length - 1 ? null : at;
      this.soon();
    });
    return chip;
  }

  drawTiles(block) {
    const slots = block ? block.slots : Array.from({ length: 32 }, masked);
    const latest = block && !block.closed ? block.steps.length : -1;
    this.tiles.resize(slots.length);
    this.grid.classList.toggle("cv-idle", !block);
    slots.forEach((slot, at) => drawTile(this.tiles.items[at], at, slot, block, latest));
    const fixed = slots.filter((slot) => slot.state === "committed").length;
    const values = block && { name: this.named(block.index), n: fixed, total: slots.length };
    if (block) mark(this.grid, "aria-label", tell("{name}: {n} of {total} slots committed", values));
  }

  drawInspector(block) {
    const at = this.tiles.at;
    const slot = block && at !== null ? block.slots[at] : null;
    this.inspector.classList.toggle("cv-empty", !slot);
    if (!slot) {
      say(this.token, "");
      const hint = "Point at a slot, or move through them with the arrow keys, to see how sure the model was.";
      say(this.facts, tell(hint));
      say(this.others, "");
      say(this.trail, "");
      return;
    }
    say(this.others, candidates(slot));
    say(this.token, slot.trail.length || slot.token ? shown(slot.token) : "\u2026");
    say(this.facts, slotFacts(block, at));
    say(this.trail, slot.trail.map(([step, sure, token]) => `${step} ${shown(token)} ${two(sure)}`).join("   "));
    const steps = Math.max(block.steps.length, 2);
    const first = this.onePerPass && slot.step ? slot.step - 1 : 0;
    const x = (step) => (4 + (192 * (step - 1 - first)) / Math.max(steps - 1 - first, 1)).toFixed(1);
    const y = (sure) => (44 - 40 * sure).toFixed(1);
    mark(this.curve, "points", slot.trail.map(([step, sure]) => `${x(step)},${y(sure)}`).join(" "));
    const bar = this.fold.run && !this.fold.speculative ? this.fold.run.set.threshold : undefined;
    mark(this.bar, "visibility", bar === undefined ? "hidden" : "visible");
    if (bar !== undefined) for (const end of ["y1", "y2"]) mark(this.bar, end, y(bar));
    const tip = slot.trail[slot.trail.length - 1];
    mark(this.dot, "visibility", tip ? "visible" : "hidden");
    if (tip) {
      mark(this.dot, "cx", x(tip[0]));
      mark(this.dot, "cy", y(tip[1]));
    }
  }

  // The rounds so far, by how many drafts were kept.
  drawRounds() {
    const { rounds } = this.fold;
    say(this.rulerCaption, tell("Rounds of this answer"));
    this.ruler.resize(rounds.length);
    rounds.forEach((round, at) => {
      const { node, fill, number } = this.ruler.items[at];
      const key = `round ${at} ${round.accepted}`;
      if (node.key === key) return;
      node.key = key;
      node.classList.remove("cv-forced");
      fill.style.height = `${(100 * round.accepted) / Math.max(1, round.slots.length - 1)}%`;
      fill.style.background = "var(--cv-step-1)";
      number.textContent = String(round.accepted);
      node.setAttribute("aria-label", roundFacts(round));
    });
    const picked = this.ruler.at !== null && rounds[this.ruler.at];
    const sum = rounds.reduce((total, round) => total + round.accepted, 0);
    const drafts = tell("{n} draft | {n} drafts", { n: sum });
    const whole = { drafts, rounds: tell("{n} round | {n} rounds", { n: rounds.length }) };
    const all = rounds.length ? tell("{drafts} kept in {rounds}", whole) : tell("none yet");
    say(this.rulerSays, picked ? roundFacts(picked) : all);
  }

  drawChecks(block) {
    const on = this.fold.speculative;
    this.checks.node.parentNode.hidden = !on;
    const slots = on && block && block.round ? block.slots.slice(1) : [];
    this.checks.resize(slots.length);
    slots.forEach((slot, at) => {
      const { node, fill, line } = this.checks.items[at];
      const { check } = slot;
      const key = check ? `${slot.state} ${check.probability} ${check.bar}` : "waiting";
      if (node.key === key) return;
      node.key = key;
      node.className = `cv-check cv-check-${check ? slot.state : "waiting"}`;
      fill.style.height = check ? `${100 * check.probability}%` : "0";
      line.hidden = !check || check.bar === null;
      if (!line.hidden) line.style.bottom = `${100 * check.bar}%`;
      node.setAttribute("aria-label", checkFacts(slot, at + 1));
    });
    const picked = this.checks.at !== null && slots[this.checks.at];
    const kept = block && block.boundary && { kept: block.accepted, total: slots.length };
    const all = kept ? tell("{kept} of {total} kept", kept) : tell("not verified yet");
    say(this.checksSay, picked ? checkFacts(picked, this.checks.at + 1) : all);
  }

  drawRuler(block) {
    say(this.rulerCaption, tell("Steps of this block"));
    const steps = block ? block.steps : [];
    const top = Math.max(8, ...steps.map((step) => step.committed.length));
    this.ruler.resize(steps.length);
    steps.forEach((step, at) => {
      const { node, fill, number } = this.ruler.items[at];
      const key = `${step.step} ${step.committed.length} ${step.forced} ${top}`;
      if (node.key === key) return;
      node.key = key;
      node.classList.toggle("cv-forced", step.forced);
      fill.style.height = `${(100 * step.committed.length) / top}%`;
      fill.style.background = `var(--cv-step-${Math.min(step.step, 32)})`;
      number.textContent = String(step.step);
      node.setAttribute("aria-label", stepFacts(step));
    });
    const picked = this.ruler.at !== null && steps[this.ruler.at];
    const sum = steps.reduce((total, step) => total + step.committed.length, 0);
    const slots = tell("{n} slot | {n} slots", { n: sum });
    const whole = { slots, steps: tell("{n} step | {n} steps", { n: steps.length }) };
    const all = steps.length ? tell("{slots} in {steps}", whole) : tell("none yet");
    say(this.rulerSays, picked ? stepFacts(picked) : all);
  }

  drawExperts(block) {
    const last = this.lastExperts(block);
    this.experts.node.parentNode.hidden = this.onePerPass;
    const [touched, kept, rerouted] = last ? last.experts : [[], [], []];
    this.experts.resize(touched.length);
    if (this.drawnExperts !== last) {
      this.drawnExperts = last;
      const top = Math.max(1, ...touched);
      touched.forEach((number, at) => {
        const { node, fill, number: keep } = this.experts.items[at];
        fill.style.height = `${(100 * number) / top}%`;
        keep.style.height = `${(100 * kept[at]) / top}%`;
        node.setAttribute("aria-label", layerFacts(at, number, kept[at], rerouted[at]));
      });
    }
    const at = this.experts.at;
    const picked = last && at !== null && at < touched.length;
    const values = last && { kept: range(kept), touched: range(touched) };
    if (last && block.boundary) values.causal = range(block.touched);
    const whole = `kept {kept} of {touched} touched${last && block.boundary ? "; the causal pass touched {causal}" : ""}`;
    if (picked) say(this.expertsSay, layerFacts(at, touched[at], kept[at], rerouted[at]));
    else say(this.expertsSay, last ? tell(whole, values) : tell("none yet"));
  }

  // The experts of the block's last step; of the block before it while it has none.
  lastExperts(block) {
    for (let at = block ? block.index : -1; at >= 0; at -= 1) {
      const { steps } = this.fold.blocks[at];
      if (steps.length) return steps[steps.length - 1].experts && steps[steps.length - 1];
    }
    return null;
  }

  // One token at a time: no block, so no experts to choose for it and no trail of guesses.
  get onePerPass() {
    return Boolean(this.fold.run) && this.fold.run.mode === "autoregressive";
  }

  drawMeters(block) {
    const { fold, meters } = this;
    const { end, passes } = fold;
    const total = fold.passesAfterPrefill;
    const per = end ? end.per : total ? fold.tokens / total : null;
    const rate = end ? end.rate : fold.ms ? (1000 * fold.tokens) / fold.ms : null;
    const last = this.lastExperts(block);
    meters.kept.value.parentNode.hidden = meters.rerouted.value.parentNode.hidden = this.onePerPass;
    const kinds = ["preview", "replay", "verify", "decode"].filter((kind) => passes[kind]);
    meter(meters.per, per === null ? null : two(per), fold.tokens ? tell("{n} token | {n} tokens", { n: fold.tokens }) : "");
    const round = fold.tokensPerRound;
    meters.round.value.parentNode.hidden = !fold.speculative;
    meter(meters.round, round === null ? null : two(round), tell("{n} round | {n} rounds", { n: fold.rounds.length }));
    const digits = rate < 10 ? 1 : 0;
    meter(meters.rate, rate === null ? null : rate.toFixed(digits), end ? tell("{sec} s in all", { sec: end.sec.toFixed(1) }) : "");
    meter(meters.passes, total ? String(total) : null, kinds.map((kind) => tell(`{n} ${kind}`, { n: passes[kind] })).join(" + "));
    const [touched, kept, rerouted] = last ? last.experts.map(mean) : [];
    meter(meters.kept, last ? kept.toFixed(1) : null, last ? tell("of {touched} touched, a layer", { touched: touched.toFixed(1) }) : "");
    meter(meters.rerouted, last ? two(rerouted) : null, last ? tell("experts lost, a slot") : "");
  }

  // A screen reader hears the line of words at most every three seconds, and always the last one.
  speak() {
    const over = ["finished", "stopped", "error", "idle", "failed"].includes(this.state);
    const now = performance.now();
    if (!over && now - (this.spoke || 0) < 3000) return;
    this.spoke = now;
    if (this.state !== "idle") say(this.aloud, this.sentence());
  }
}

const START = {
  idle: "Send a message, and its answer settles here, block by block.",
  waiting: "Starting.",
  running: "Starting.",
  loading: "Loading the model.",
};
