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
    const have = this.total;
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
    this.at = at === null ? null : Math.min(Math.max(at, 0), this.total);
    this.fold = at === null ? this.live : prefix(this.live, this.at, this.fold);
    this.pinned = null;
    this.soon();
  }

  // Steps through the run while it goes on; the newest record is followed from there.
  step(by) {
    const at = this.place + by;
    this.seek(at < this.total ? at : null);
  }

  // Records that are drawn, and records that are here.
  get place() {
    return this.at ?? this.total;
  }

  get total() {
    return this.live.records.length;
  }

  // Draws an earlier block; the last one follows the run again.
  pin(at) {
    this.pinned = at === this.fold.blocks.length - 1 ? null : at;
    this.soon();
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
    this.askFrom(this.total);
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
    const changed = () => this.soon();
    const head = make(this.root, "div", "cv-head");
    this.title = make(head, "h2", "cv-title");
    this.chips = new Chips(head, this);
    this.words = make(head, "p", "cv-words");
    this.past = this.askFrom ? new Past(head, this) : null;
    this.grid = make(this.root, "div", "cv-tiles");
    this.tiles = new Picker(this.grid, tell("Slots of the block, in reading order"), makeTile, changed);
    this.buildKey();
    this.inspector = new Inspector(this.root);
    this.parts = [new Ruler(this.root, changed), new Checks(this.root, changed), new Experts(this.root, changed)];
    this.parts.push(new Meters(this.root));
    this.aloud = make(this.root, "p", "cv-aloud");
    this.aloud.setAttribute("role", "status");
  }

  buildKey() {
    this.key = make(this.root, "ul", "cv-key");
    for (const [name, text, mode] of [
      ["masked", "not written yet", "autoregressive"],
      ["committed", "written, in this order", "autoregressive"],
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

  // ---- drawing

  draw() {
    const { fold } = this;
    const at = this.pinned === null ? fold.blocks.length - 1 : this.pinned;
    const block = fold.blocks[at];
    this.root.dataset.state = this.state;
    say(this.title, block ? this.named(block.index) : tell("Block board"));
    const mode = fold.run ? fold.run.mode : "denoise";
    for (const item of this.key.children) item.hidden = item.dataset.mode !== mode;
    say(this.words, this.sentence());
    if (this.past) this.past.draw();
    this.chips.draw(fold, at);
    this.drawTiles(block);
    this.inspector.draw(fold, block, this.tiles.at);
    for (const part of this.parts) part.draw(fold, block);
    this.speak();
  }

  named(index) {
    return tell(this.fold.speculative ? "Round {n}" : "Block {n}", { n: index + 1 });
  }

  sentence() {
    if (this.place < this.total) return this.fold.words || tell("Before the first event.");
    const last = { error: "The run ended with an error. Retry sends the message again.", stopped: "Stopped." };
    if (this.state === "stopped" && this.fold.end) return this.fold.words;
    const note = tell.text(this.note);
    if (this.state === "error" && note) return tell("The run ended with an error: {why}", { why: note });
    const over = last[this.state] && tell(last[this.state]);
    const told = over || this.fold.words || note || tell(START[this.state] || "");
    if (this.held) return `${told} ${tell("Held: \u201cNext pass\u201d lets the model go on.")}`;
    return this.state === "running" && note && told !== note ? `${told} ${note}` : told;
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
