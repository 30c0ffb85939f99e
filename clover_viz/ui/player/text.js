// The text of a recording up to a position: its own deltas where it has them, else the tokens that are fixed by then.
class SoFar {
  constructor(parent) {
    this.node = make(parent, "div", "cv-sofar");
    mark(this.node, "role", "region");
    mark(this.node, "aria-label", tell("Text so far"));
    mark(this.node, "tabindex", "0"); // it scrolls
    this.seen = make(this.node, "div");
    this.thinking = make(this.seen, "div", "cv-sofar-thinking");
    const text = make(this.seen, "div", "cv-sofar-text");
    this.old = make(text, "span");
    this.fresh = make(text, "span", "cv-fresh");
    this.room = make(this.node, "div", "cv-sofar-room"); // unseen, and as high as the whole text: nothing jumps
    mark(this.room, "aria-hidden", "true");
    this.node.dataset.none = tell("No text yet."); // shown by the sheet
    this.scrolled = 0;
  }

  load({ text, thinking }) {
    this.deltas = text ? new Deltas(text) : null;
    this.thoughts = new Deltas(thinking || []);
    say(this.room, text ? this.thoughts.whole + this.deltas.whole : "\n\n");
    this.node.scrollTop = this.scrolled = 0;
  }

  // fold: of the first `length` records.
  show(length, fold) {
    const [old, fresh] = this.deltas ? this.deltas.upTo(length) : [readable(tokensOf(fold)), ""];
    say(this.old, old);
    say(this.fresh, fresh);
    say(this.thinking, this.thoughts.upTo(length).join(""));
    this.thinking.hidden = !this.thinking.textContent;
    this.node.classList.toggle("cv-nothing", !old && !fresh && this.thinking.hidden);
    if (this.node.scrollTop < this.scrolled - 32) return; // the visitor reads further up
    this.node.scrollTop = this.scrolled = Math.max(0, this.seen.offsetHeight - this.node.clientHeight + 20);
  }
}

// Texts that came right after each record.
class Deltas {
  constructor(deltas) {
    this.whole = deltas.join("");
    this.ends = [0];
    for (const delta of deltas) this.ends.push(this.ends[this.ends.length - 1] + delta.length);
  }

  // What was there after `length` records: [before the last of them, what that one brought].
  upTo(length) {
    const [before, after] = [this.ends[Math.max(length - 1, 0)], this.ends[length]];
    return after === undefined ? [this.whole, ""] : [this.whole.slice(0, before), this.whole.slice(before, after)];
  }
}

// The tokens of the response so far, in reading order up to the first open slot.
function tokensOf(fold) {
  const tokens = [];
  for (const { round, boundary, accepted, slots } of fold.blocks) {
    if (round) {
      if (!tokens.length) tokens.push(slots[0].token);
      if (boundary) tokens.push(...slots.slice(1, 1 + accepted).map((slot) => slot.token), boundary.token);
    } else {
      const open = slots.findIndex((slot) => slot.state === "masked");
      tokens.push(...slots.slice(0, open < 0 ? slots.length : open).map((slot) => slot.token));
    }
  }
  return fold.end ? tokens.slice(0, fold.end.tokens) : tokens;
}

// Printable tokens as text: bytes that are named one by one (<0xE2>) become the characters they make together.
function readable(tokens) {
  return tokens.join("").replace(/(?:<0x[0-9A-F]{2}>)+/g, (names) => {
    const bytes = names.match(/[0-9A-F]{2}(?=>)/g).map((name) => parseInt(name, 16));
    return new TextDecoder().decode(new Uint8Array(bytes));
  });
}
