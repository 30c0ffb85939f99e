// More of the lesson's pictures of recorded runs: a final error, the cache, the coreset, the verifier.

// A commit that decided an error, and how sure the model was before and after it.
function errorPicture(root, data, tell, state) {
  const found = need(data.error);
  const [token, confidence, step, forced] = found.cells[found.slot];
  const texts = make(root, "dl", "cvl-texts");
  for (const name of ["asked", "right", "got", "alone"]) {
    const text = found[name];
    if (text === null || (name === "alone" && found.kind === "parted")) continue;
    const row = make(texts, "div");
    make(row, "dt").textContent = tell(found.kind === "parted" && name === "right" ? "error.other" : `error.${name}`);
    make(row, "dd").textContent = text;
  }
  const said = { token: quoted(token), sure: confidence.toFixed(4), bar: two(found.threshold) };
  const values = { step, slot: found.slot + 1, ...said };
  const how = tell(forced ? "error.forced" : "error.over", values);
  sentence(root).textContent = joined(tell, tell(`error.${found.kind}`), how, after());
  make(root, "h3").textContent = tell("error.block");
  drawTokens(
    make(root, "div", "cvl-bits"),
    found.cells.map(([token, , step], slot) => ({ token, step, kind: "fixed", picked: slot === found.slot })),
  );
  make(root, "h3").textContent = tell("error.surest");
  const columns = new Columns(root, tell("error.surest"), { names: "upright", changed: draw });
  const says = make(root, "p", "cv-says");
  legend(root, tell, ["clears", "forces", "decided"]);

  function after() {
    const rest = found.steps.slice(step);
    if (!rest.length) return tell("error.last");
    const forcedOnes = rest.filter(([, , forced]) => forced).length;
    return tell("error.after", { n: rest.length, forced: forcedOnes, slots: rest.reduce((sum, [, n]) => sum + n, 0) });
  }

  function draw() {
    const rows = found.steps.map(([sure, n, forced], at) => ({
      height: sure,
      kind: `${forced ? "forces" : "clears"}${at + 1 === step ? " cvl-is-decided" : ""}`,
      name: String(at + 1),
      says: tell(forced ? "error.step_forced" : "error.step", { step: at + 1, sure: sure.toFixed(4), n }),
    }));
    columns.show(rows);
    columns.line("bar", found.threshold, tell("commit.line", { bar: two(found.threshold) }));
    say(says, columns.at === null ? tell("error.point") : rows[columns.at].says);
  }

  draw();
  return {};
}

// What each pass of a run of several blocks reads and writes, and which slots see which in it.
function cachePicture(root, data, tell, state) {
  const { passes } = need(data.passes);
  const most = Math.max(...passes.map(([, , , , cached]) => cached));
  make(root, "h3").textContent = tell("cache.title");
  const columns = new Columns(root, tell("cache.columns"), { changed: point });
  const show = (n) => tell("cache.pass", { n, total: passes.length });
  const first = passes.findIndex(([kind]) => kind === "replay");
  const way = { name: "pass", label: tell("cache.passes"), min: 1, last: passes.length, every: 350, tell, show };
  if (state.pass === undefined) state.pass = first + 1 || 1;
  const transport = new Transport(root, state, { ...way, changed: draw });
  const says = sentence(root);
  legend(root, tell, ["prefill", "preview", "replay"]);
  const pair = make(root, "div", "cvl-pair");
  const picture = drawn(pair, "svg", { viewBox: "-12 -1 46 34", class: "cvl-sight", role: "img" });
  drawn(picture, "rect", { x: -11, y: 0, width: 8, height: 32, class: "cvl-sight-cache" });
  const sight = drawn(picture, "path", { class: "cvl-sight-seen" });
  drawn(picture, "rect", { x: 0, y: 0, width: 32, height: 32, class: "cvl-sight-frame" });
  const caption = make(pair, "p", "cv-says");

  function point() {
    if (columns.at !== null) transport.moved(transport.range.set(columns.at + 1));
  }

  function draw() {
    const [kind, block, step, n, cached] = passes[state.pass - 1];
    columns.show(passes.map(([kind, , , , cached], at) => ({
      height: (0.9 * cached) / most,
      kind: `${kind}${at + 1 === state.pass ? " cvl-is-at" : ""}${at + 1 > state.pass ? " cvl-is-later" : ""}`,
      says: told(passes[at]),
    })));
    say(says, told([kind, block, step, n, cached]));
    const seen = kind === "preview" ? "preview" : "causal";
    mark(sight, "d", sightPath(seen, 32));
    say(caption, tell(`cache.sees_${seen}`));
    mark(picture, "aria-label", tell(`cache.sees_${seen}`));
  }

  function told([kind, block, step, n, cached]) {
    return tell(`cache.${kind}`, { block: block + 1, step, n, cached });
  }

  draw();
  return { stop: () => transport.pause() };
}

// A row for each slot of a block, with a square for every slot it sees.
function sightPath(pass, slots) {
  const places = [...Array(slots).keys()];
  const seen = places.map((row) => places.filter((slot) => sees(pass, row, slot)).map((slot) => [slot, row]));
  return seen.flat().map(([slot, row]) => `M${slot + 0.1} ${row + 0.1}h.8v.8h-.8z`).join("");
}

// Experts by layer and step: a map of one measure, and what each cell says.
function coresetPicture(root, data, tell, state) {
  const total = need(data.facts).tiny.experts;
  const top = make(root, "div", "cvl-controls");
  const stories = storiesWith(data, ["denoise"]);
  choice(top, state, { name: "story", label: tell("request"), options: named(stories, tell), changed: draw });
  const measures = ["touched", "kept", "rerouted"].map((name) => [name, tell(`coreset.${name}`)]);
  if (!state.measure) state.measure = "kept";
  choice(top, state, { name: "measure", label: tell("coreset.measure"), options: measures, changed: draw });
  const map = make(root, "div", "cvl-map");
  const layers = make(map, "div", "cvl-map-layers");
  mark(layers, "aria-hidden", "true");
  const picker = new Picker(make(map, "div", "cvl-map-cells"), tell("coreset.map"), () => ({}), draw);
  const foot = make(map, "div", "cvl-map-steps");
  mark(foot, "aria-hidden", "true");
  const says = sentence(root);
  make(root, "h3").textContent = tell("coreset.means");
  const lines = make(root, "div", "cvl-means");
  if (cutShort(data, stories, "denoise")) caveat(root, tell("first_block"));
  let steps = [];

  function draw() {
    steps = folded(data.runs[`${state.story}-denoise`]).blocks[0].steps.filter(({ experts }) => experts);
    if (!steps.length) throw new Error("the recording tells no experts");
    const which = ["touched", "kept", "rerouted"].indexOf(state.measure);
    const rows = steps[0].experts[0].map((_, layer) => steps.map(({ experts }) => experts[which][layer]));
    const most = Math.max(...(which === 2 ? rows.flat() : steps.flatMap(({ experts }) => experts[0])), 0.01);
    map.style.setProperty("--steps", steps.length);
    mark(picker.node, "data-many", String(steps.length > 12));
    picker.resize(rows.length * steps.length);
    rows.flat().forEach((value, at) => {
      const { node } = picker.items[at];
      node.className = "cvl-cell";
      node.style.setProperty("--share", (value / most).toFixed(3));
      say(node, steps.length > 12 ? "" : which === 2 ? two(value) : String(value));
      mark(node, "aria-label", told(at));
    });
    texts(layers, rows.map((_, layer) => String(layer)));
    texts(foot, steps.map(({ step }) => String(step)));
    say(says, picker.at === null ? whole() : told(picker.at));
    drawMeans(lines, steps, total, tell);
  }

  function told(at) {
    const [layer, step] = [Math.floor(at / steps.length), at % steps.length];
    const [touched, kept, lost] = steps[step].experts.map((numbers) => numbers[layer]);
    return tell("coreset.cell", { layer, step: steps[step].step, touched, kept, lost: two(lost), total });
  }

  function whole() {
    const [touched, kept, lost] = [0, 1, 2].map((which) => mean(steps.map(({ experts }) => mean(experts[which]))));
    return tell("coreset.whole", { touched: touched.toFixed(1), kept: kept.toFixed(1), lost: two(lost), total });
  }

  draw();
  return {};
}

// Touched and kept as lines over the steps, means over the layers.
function drawMeans(parent, steps, total, tell) {
  parent.replaceChildren();
  const picture = drawn(parent, "svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
  const legend = make(parent, "p", "cv-says");
  const x = (at) => (steps.length > 1 ? (100 * at) / (steps.length - 1) : 50).toFixed(2);
  ["touched", "kept"].forEach((name, which) => {
    const means = steps.map(({ experts }) => mean(experts[which]));
    const points = means.map((value, at) => `${x(at)},${(39 - (38 * value) / total).toFixed(2)}`).join(" ");
    drawn(picture, "polyline", { points, class: `cvl-line-${name}` });
  });
  const ends = [0, 1].map((which) => [steps[0], steps[steps.length - 1]].map(({ experts }) => mean(experts[which])));
  const [[t0, t1], [k0, k1]] = ends.map((pair) => pair.map((value) => value.toFixed(1)));
  say(legend, tell("coreset.lines", { t0, t1, k0, k1, n: steps.length, total }));
}

function texts(parent, words) {
  while (parent.children.length > words.length) parent.lastChild.remove();
  while (parent.children.length < words.length) make(parent, "span");
  words.forEach((word, at) => say(parent.children[at], word));
}

// The recorded checks of one round, under the rule they were made with and under the other.
function verifyPicture(root, data, tell, state) {
  const stories = storiesWith(data, ["speculative"]);
  const top = make(root, "div", "cvl-controls");
  const foldOf = () => folded(need(data.runs[`${state.story}-speculative`]));
  const roundsOf = () => foldOf().rounds;
  choice(top, state, { name: "story", label: tell("request"), options: named(stories, tell), changed: restart });
  const show = (n) => tell("verify.round_of", { n, total: roundsOf().length });
  const place = { name: "round", label: tell("verify.round"), min: 1, max: roundsOf().length, step: 1, value: 1, show };
  const round = slider(top, state, { ...place, changed: draw });
  const rules = ["exact", "threshold"].map((name) => [name, tell(`verify.${name}`)]);
  const second = make(root, "div", "cvl-rule");
  choice(second, state, { name: "rule", label: tell("verify.rule"), options: rules, changed: draw });
  const dials = make(second, "div", "cvl-controls");
  for (const [name, max, value] of [["ratio", 1, 0.9], ["delta", 2, 0.6]]) {
    const label = tell(`verify.${name}`);
    slider(dials, state, { name, label, min: 0, max, step: 0.05, value, show: two, changed: draw });
  }
  const says = sentence(root);
  const columns = new Columns(root, tell("verify.columns"), { names: "turned", changed: draw });
  const picked = make(root, "p", "cv-says");
  legend(root, tell, ["kept", "refused", "behind"]);
  caveat(root, tell("verify.caveat"));
  if (cutShort(data, stories, "speculative")) caveat(root, tell("first_rounds"));

  function restart() {
    round.input.max = roundsOf().length;
    round.set(1);
    draw();
  }

  function draw() {
    const fold = foldOf();
    const block = fold.rounds[state.round - 1];
    const { slots, accepted, boundary } = block;
    const ends = fold.endsIn(block); // then no rule keeps more: behind the end there is nothing to keep
    const drafts = slots.slice(1);
    const checks = drafts.map(({ check }) => [check.probability, check.entropy]);
    const bars = checks.map(([, entropy]) => acceptanceBar(entropy, state.ratio, state.delta));
    const lossy = state.rule === "threshold";
    const passed = lossy ? keptByThreshold(checks, state.ratio, state.delta) : accepted;
    const kept = ends ? Math.min(passed, accepted) : passed;
    const over = ends && kept === accepted;
    dials.hidden = !lossy;
    const rows = drafts.map(({ token }, at) => {
      const kind = at < kept ? "kept" : at === kept && !over ? "refused" : "behind";
      const values = { n: at + 1, token: quoted(token), p: checks[at][0].toFixed(4), entropy: two(checks[at][1]) };
      const bar = lossy ? bars[at] : null;
      const against = lossy ? tell("verify.bar", { bar: two(bar) }) : "";
      const fate = tell(`verify.is_${over && kind === "behind" ? "late" : kind}`);
      const says = joined(tell, tell("verify.draft", values), against, fate);
      return { height: checks[at][0], kind, name: token, bar, says };
    });
    columns.show(rows);
    const values = { n: kept, total: drafts.length, token: kept < drafts.length ? quoted(drafts[kept].token) : "" };
    const brought = { token: quoted(boundary.token), n: over ? textOf(fold, block) : kept + 1 };
    const next = kept === accepted ? tell(over ? "verify.brought" : "verify.next", brought) : "";
    const other = lossy ? tell("verify.against", { n: accepted }) : "";
    const first = kept < drafts.length ? "verify.first" : "verify.all";
    say(says, joined(tell, tell(over ? "verify.over" : first, values), next, other));
    say(picked, columns.at === null || !rows[columns.at] ? tell("verify.point") : rows[columns.at].says);
  }

  draw();
  return {};
}

// Tokens of text among the drafts of the round in which it ends: not the boundary, which is the round's before, and not
// the end token.
function textOf(fold, block) {
  return Math.max(0, fold.covered(block, fold.end) - 1 - (fold.end.reason === "end" ? 1 : 0));
}
