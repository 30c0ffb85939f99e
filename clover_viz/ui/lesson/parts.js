// What the lesson's pictures are made of. Every control keeps its value in the picture's own `state`, so that a
// picture can be made again in another language and stand as it stood.

// A labelled range: {input, set(value)}. show: a value as text; changed: called with it after every move.
function slider(parent, state, { name, label, min, max, step, value, show = String, changed }) {
  if (state[name] === undefined) state[name] = value;
  const box = make(parent, "label", "cvl-slider");
  const line = make(box, "span", "cvl-slider-line");
  make(line, "span").textContent = label;
  const told = make(line, "span", "cvl-slider-value"); // no <output>: the label would name that, not the range
  mark(told, "aria-hidden", "true");
  const input = make(box, "input");
  Object.assign(input, { type: "range", min, max, step });
  const set = (to) => {
    state[name] = Math.min(Number(input.max), Math.max(Number(input.min), to));
    input.value = state[name];
    say(told, show(state[name]));
    mark(input, "aria-valuetext", show(state[name]));
  };
  set(state[name]);
  input.addEventListener("input", () => {
    set(Number(input.value));
    changed(state[name]);
  });
  return { input, set, box };
}

// A row of buttons of which one is pressed. options: [value, text] pairs.
function choice(parent, state, { name, label, options, changed }) {
  if (!options.some(([value]) => value === state[name])) state[name] = options[0][0];
  const box = make(parent, "div", "cvl-choice");
  mark(box, "role", "group");
  mark(box, "aria-label", label);
  make(box, "span", "cvl-choice-label").textContent = label;
  const row = make(box, "span", "cvl-choice-row");
  const buttons = options.map(([value, text]) => {
    const button = make(row, "button", "cvl-pill");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => {
      state[name] = value;
      press();
      changed(value);
    });
    return [value, button];
  });
  const press = () => buttons.forEach(([value, button]) => mark(button, "aria-pressed", String(value === state[name])));
  press();
  return { box, press };
}

// Play, pause and a place on the way: state[name] runs from `min` to `last`. Playing stops where nobody sees it.
class Transport {
  constructor(parent, state, { name, label, min = 0, last, every = 700, tell, show, changed }) {
    Object.assign(this, { state, name, last, every, tell, changed });
    const row = make(parent, "div", "cvl-transport");
    this.button = make(row, "button", "cvl-pill cvl-play");
    this.button.type = "button";
    this.button.addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    const moved = () => this.moved();
    this.range = slider(row, state, { name, label, min, max: last, step: 1, value: min, show, changed: moved });
    this.nameButton();
  }

  get at() {
    return this.state[this.name];
  }

  moved() {
    this.pause();
    this.changed();
  }

  seek(at) {
    this.range.set(at);
    this.changed();
  }

  // Another run, with another number of places.
  resize(last, at) {
    this.pause();
    this.last = last;
    this.range.input.max = last;
    this.seek(at);
  }

  play() {
    if (this.at >= this.last) this.seek(Number(this.range.input.min));
    this.timer = setInterval(() => this.tick(), this.every);
    this.nameButton();
  }

  tick() {
    if (!this.button.isConnected || this.button.offsetParent === null) return this.pause();
    this.seek(this.at + 1);
    if (this.at >= this.last) this.pause();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.nameButton();
  }

  nameButton() {
    say(this.button, this.tell(this.timer ? "pause" : "play"));
  }
}

function still() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Columns from 0 to 1 that can be pointed at and walked through, with names under them and lines across them.
// names: null, or how they stand, "turned" or "upright".
class Columns {
  constructor(parent, label, { names = null, changed = () => {} } = {}) {
    this.plot = make(parent, "div", "cvl-plot");
    this.picker = new Picker(make(this.plot, "div", "cvl-cols"), label, makeColumn, changed);
    this.names = names ? make(parent, "div", `cvl-names cvl-${names}`) : null;
    if (this.names) mark(this.names, "aria-hidden", "true");
    this.lines = {};
  }

  get at() {
    return this.picker.at;
  }

  // rows: {height, kind, says, name?, bar?}; kind: a class `cvl-is-...`; bar: a line of the column's own.
  show(rows) {
    this.picker.resize(rows.length);
    if (this.names) {
      while (this.names.children.length > rows.length) this.names.lastChild.remove();
      while (this.names.children.length < rows.length) make(this.names, "span", "cvl-name");
    }
    rows.forEach(({ height, kind, says, name, bar }, at) => {
      const { node, fill, bar: line } = this.picker.items[at];
      mark(node, "class", `cvl-col cvl-is-${kind}`);
      fill.style.height = `${(100 * Math.min(1, Math.max(0, height))).toFixed(2)}%`;
      line.hidden = bar === undefined || bar === null;
      if (!line.hidden) line.style.bottom = `${(100 * bar).toFixed(2)}%`;
      mark(node, "aria-label", says);
      if (!this.names) return;
      say(this.names.children[at], shown(name || ""));
      mark(this.names.children[at], "class", `cvl-name cvl-is-${kind}`);
    });
  }

  // A line across all columns at a height from 0 to 1, with words at its end.
  line(name, height, words) {
    if (!this.lines[name]) {
      const node = make(this.plot, "div", `cvl-across cvl-across-${name}`);
      this.lines[name] = { node, words: make(node, "span") };
    }
    const { node, words: place } = this.lines[name];
    node.style.bottom = `${(100 * Math.min(1, Math.max(0, height))).toFixed(2)}%`;
    node.classList.toggle("cvl-below", height > 0.82);
    say(place, words);
  }
}

function makeColumn(node) {
  return { fill: make(node, "i"), bar: make(node, "b") };
}

// Tokens in a row. cells: {token, kind, step?, now?}; a hidden token keeps its place.
function drawTokens(parent, cells) {
  while (parent.children.length > cells.length) parent.lastChild.remove();
  cells.forEach(({ token, kind, step, picked }, at) => {
    const node = parent.children[at] || makeToken(parent);
    mark(node, "class", `cvl-bit cvl-is-${kind}${picked ? " cvl-is-picked" : ""}`);
    say(node.firstChild, shown(token));
    say(node.lastChild, step ? String(step) : "");
    const colour = step ? Math.min(step, 32) : 0;
    node.style.background = colour ? `var(--cv-step-${colour})` : "";
    node.style.color = colour ? `var(--cv-step-ink-${colour})` : "";
  });
}

function makeToken(parent) {
  const node = make(parent, "span");
  make(node, "span");
  make(node, "small");
  return node;
}

// Sentences, one after the other.
function joined(tell, ...sentences) {
  return sentences.filter(Boolean).join(tell("gap"));
}

// A line that says what is seen, and one for a note below a picture.
function sentence(parent) {
  return make(parent, "p", "cvl-told");
}

function caveat(parent, text) {
  make(parent, "p", "cvl-caveat").textContent = text;
}

// The value, or an error that says why it is not there.
function need(value) {
  if (value === undefined) throw new Error("the recording is not there");
  if (value.problem) throw new Error(value.problem);
  return value;
}

// A fold of the first records of a run.
function folded(run, length = run.records.length) {
  const fold = new Fold();
  for (const record of run.records.slice(0, length)) fold.add(record);
  return fold;
}
