// The lesson's pictures that are computed: the history slot, the budget, and what the embedded model is.

// Formula A1 with clover-tiny's learned controls: what share of the mixing goes to the past, head by head.
function historyPicture(root, data, tell, state) {
  const heads = need(data.heads);
  if (!heads.length) throw new Error("the model has no history slot");
  const layers = [...new Set(heads.map(({ layer }) => layer))];
  const top = make(root, "div", "cvl-controls");
  const sizes = [4, 8, 16, 32].map((size) => [size, String(size)]);
  if (!state.slots) state.slots = 32;
  choice(top, state, { name: "slots", label: tell("block_size"), options: sizes, changed: draw });
  for (const [name, min, max, value] of [["likeness", -1, 1, 0], ["readout", 0, 3, 1]]) {
    const step = 0.05;
    slider(top, state, { name, label: tell(`history.${name}`), min, max, step, value, show: two, changed: draw });
  }
  const says = sentence(root);
  const columns = new Columns(root, tell("history.columns"), { names: "upright", changed: draw });
  const picked = make(root, "p", "cv-says");
  make(root, "p", "cvl-formula").textContent = tell("history.formula");
  caveat(root, tell("history.caveat"));

  function draw() {
    const { likeness, readout, slots } = state;
    const share = ({ bias, c, scale }) => historyShare(bias, c, scale, readout, likeness, slots);
    const rows = heads.map((head, at) => ({
      height: share(head),
      kind: layers.indexOf(head.layer) % 2 ? "odd" : "even",
      name: at && heads[at - 1].layer === head.layer ? "" : String(head.layer),
      says: tell("history.head", {
        layer: head.layer, head: head.head, bias: two(head.bias), c: two(head.c), scale: two(head.scale),
        share: percent(share(head)),
      }),
    }));
    columns.show(rows);
    columns.line("bar", 1 / (1 + slots), tell("history.equal", { share: percent(1 / (1 + slots)) }));
    const shares = rows.map(({ height }) => height);
    const ends = { low: percent(Math.min(...shares)), high: percent(Math.max(...shares)), mean: percent(mean(shares)) };
    say(says, tell("history.says", { ...ends, heads: heads.length, slots }));
    say(picked, columns.at === null ? tell("history.point") : rows[columns.at].says);
  }

  draw();
  return {};
}

// What a round reads and takes, and what it must keep for the reported speed.
function budgetPicture(root, data, tell, state) {
  const cards = Object.entries(data.cards);
  const presets = [
    ["apart", { card: "H200", efficiency: 0.6, preview: 64, verify: 163 }],
    ["alike", { card: "H200", efficiency: 0.6, preview: 64, verify: 64 }],
    ["best", { card: "H200", efficiency: 0.8, preview: 32, verify: 64 }],
  ];
  const top = make(root, "div", "cvl-presets");
  make(top, "span", "cvl-choice-label").textContent = tell("budget.presets");
  for (const [name, values] of presets) {
    const button = make(top, "button", "cvl-pill");
    button.type = "button";
    button.textContent = tell(`budget.${name}`);
    button.addEventListener("click", () => use(values));
  }
  const card = choice(root, state, {
    name: "card", label: tell("budget.card"), options: cards.map(([name]) => [name, name]), changed: pickCard,
  });
  const dials = make(root, "div", "cvl-controls");
  const made = {};
  const [speed, target] = data.cards[state.card];
  for (const [name, min, max, step, value, show] of [
    ["bandwidth", 0.2, 10, 0.1, speed, (x) => `${x.toFixed(1)} TB/s`],
    ["efficiency", 0.1, 1, 0.01, 0.6, percent],
    ["preview", 8, 256, 1, 64, String],
    ["verify", 8, 256, 1, 163, String],
    ["target", 50, 1500, 5, target, (x) => `${x} tok/s`],
  ]) {
    const label = tell(`budget.${name}`);
    made[name] = slider(dials, state, { name, label, min, max, step, value, show, changed: draw });
  }
  const bar = make(root, "div", "cvl-stack");
  const key = make(root, "ul", "cvl-legend");
  const parts = [["dense", "dense"], ["preview", "drafted"], ["verify", "verified"]].map(([name, look]) => {
    const item = make(key, "li");
    make(item, "i", `cvl-stack-${look}`);
    return { name, node: make(bar, "div", `cvl-stack-${look}`), says: make(item, "span") };
  });
  const list = make(root, "dl", "cv-meters cvl-budget");
  const meters = ["bytes", "ms", "needed", "ceiling"].map((name) => {
    const node = make(list, "div", "cv-meter");
    make(node, "dt").textContent = tell(`budget.${name}`);
    return { value: make(node, "dd", "cv-value"), rest: make(node, "dd", "cv-rest") };
  });
  caveat(root, tell("budget.caveat"));

  function pickCard(name) {
    const [speed, target] = data.cards[name];
    made.bandwidth.set(speed);
    made.target.set(target);
    draw();
  }

  function use({ card: name, ...values }) {
    state.card = name;
    card.press();
    for (const [key, value] of Object.entries(values)) made[key].set(value);
    pickCard(name);
  }

  function draw() {
    const found = budget(state.bandwidth, state.efficiency, state.preview, state.verify, state.target);
    for (const { name, node, says } of parts) {
      node.style.flexGrow = String(found[name]);
      say(says, tell(`budget.part_${name}`, { gb: giga(found[name]) }));
    }
    const alone = { target: state.target, share: percent(state.target / found.ceiling) };
    meter(meters[0], `${giga(found.total)} GB`, tell("budget.two"));
    meter(meters[1], `${found.ms.toFixed(1)} ms`, tell("budget.at", { share: percent(state.efficiency) }));
    meter(meters[2], found.needed.toFixed(1), tell("budget.for", { target: state.target }));
    meter(meters[3], `${found.ceiling.toFixed(0)}`, tell("budget.alone", alone));
  }

  draw();
  return {};
}

// The embedded model beside the released one, and how often it is right.
function limitsPicture(root, data, tell) {
  const { tiny, released } = need(data.facts);
  const table = make(root, "table", "cvl-facts-table");
  const head = make(make(table, "thead"), "tr");
  for (const word of ["", "clover-tiny", "Clover-35B-A3B"]) {
    const cell = make(head, word ? "th" : "td");
    cell.textContent = word;
    if (word) mark(cell, "scope", "col");
  }
  const body = make(table, "tbody");
  for (const name of Object.keys(tiny)) {
    const row = make(body, "tr");
    const title = make(row, "th");
    title.textContent = tell(`facts.${name}`);
    mark(title, "scope", "row");
    for (const facts of [tiny, released]) make(row, "td").textContent = facts[name].toLocaleString("en");
  }
  make(root, "h3").textContent = tell("scores.title");
  const rows = need(data.scores);
  const bars = make(root, "dl", "cvl-scores");
  for (const kind of new Set(rows.map(({ kind }) => kind))) {
    const group = make(bars, "div");
    make(group, "dt").textContent = tell(`kind.${kind}`);
    for (const { mode, n, exact } of rows.filter((row) => row.kind === kind)) {
      const line = make(group, "dd");
      const blocks = mode.startsWith("denoise");
      const bar = make(make(line, "span", "cvl-score-track"), "i", blocks ? "cvl-score-block" : "");
      bar.style.width = `${exact}%`;
      const name = tell(blocks ? "scores.denoise" : "scores.alone");
      make(line, "span").textContent = tell("scores.row", { name, exact: exact.toFixed(1), count: n });
    }
  }
  caveat(root, tell("scores.caveat"));
  return {};
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function giga(bytes) {
  return (bytes / 1e9).toFixed(1);
}
