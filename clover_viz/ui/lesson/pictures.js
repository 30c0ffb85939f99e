// The lesson's pictures of recorded runs. Each is called with (root, data, tell, state) and may return {stop()}.

// One request written three ways, pass by pass.
function lanesPicture(root, data, tell, state) {
  const stories = storiesWith(data, ["autoregressive", "denoise"], (name) => data.runs[`${name}-denoise`].whole);
  choice(root, state, { name: "story", label: tell("request"), options: named(stories, tell), changed: restart });
  const lanes = ["alone", "block", "once"].map((name) => {
    const lane = make(root, "div", "cvl-lane");
    make(lane, "h3").textContent = tell(`lanes.${name}`);
    return { name, says: make(lane, "p", "cv-says"), row: make(lane, "div", "cvl-bits") };
  });
  let runs = lanesOf(data, state.story);
  const begins = state.pass === undefined && !still();
  if (state.pass === undefined) state.pass = begins ? 0 : Math.max(...runs.block.map(({ step }) => step));
  const show = (pass) => tell("lanes.pass", { n: pass, total: runs.passes });
  const way = { name: "pass", label: tell("lanes.passes"), last: runs.passes, tell, show, changed: draw };
  const transport = new Transport(root, state, way);
  caveat(root, tell("lanes.caveat"));

  function restart() {
    runs = lanesOf(data, state.story);
    transport.resize(runs.passes, 0);
    if (!still()) transport.play();
  }

  function draw() {
    for (const { name, says, row } of lanes) {
      const cells = runs[name].map(({ token, step, right }) => {
        if (step > state.pass) return { token, kind: "hidden" };
        return right === false ? { token, kind: "wrong" } : { token, kind: "fixed", step };
      });
      drawTokens(row, cells);
      const fixed = cells.filter(({ kind }) => kind !== "hidden").length;
      const n = Math.min(state.pass, Math.max(...runs[name].map(({ step }) => step)));
      const right = runs.once.filter((cell) => cell.right).length;
      if (name === "once" && state.pass) say(says, tell("lanes.agree", { k: right, total: cells.length }));
      else say(says, tell("lanes.count", { k: fixed, total: cells.length, n }));
    }
  }

  draw();
  if (begins) transport.play();
  return { stop: () => transport.pause() };
}

// The cells of each lane: {token, step: the pass that fixes it, right: as in the finished text}. The prompt's own pass
// gives the first token of one at a time.
function lanesOf(data, story) {
  const alone = folded(need(data.runs[`${story}-autoregressive`])).blocks.flatMap(({ slots }) => slots);
  const { slots, kept } = folded(need(data.runs[`${story}-denoise`])).blocks[0];
  const block = slots.slice(0, kept);
  const lanes = {
    alone: alone.filter(({ state }) => state === "committed").map(({ token }, at) => ({ token, step: at })),
    block: block.map(({ token, step }) => ({ token, step })),
    once: block.map(({ id, token, trail }) => ({ token: trail[0][2], step: 1, right: trail[0][2] === token })),
  };
  return { ...lanes, passes: Math.max(...[...lanes.alone, ...lanes.block].map(({ step }) => step)) };
}

// The block board itself, over a recorded run.
function boardPicture(root, data, tell, state) {
  const stories = storiesWith(data, ["denoise"]);
  choice(root, state, { name: "story", label: tell("request"), options: named(stories, tell), changed: restart });
  const bar = make(root, "div");
  const board = new Board(make(root, "div"), null);
  let run = need(data.runs[`${state.story}-denoise`]);
  const way = { name: "at", label: tell("board.place"), min: 3, last: run.records.length, every: 1100, tell };
  if (state.at === undefined) state.at = Math.min(5, run.records.length); // two previews in: something to read
  const show = (at) => tell("board.event", { n: at, total: run.records.length });
  const transport = new Transport(bar, state, { ...way, show, changed: draw });
  if (cutShort(data, stories, "denoise")) caveat(root, tell("first_block"));

  function restart() {
    run = need(data.runs[`${state.story}-denoise`]);
    transport.resize(run.records.length, 3);
    if (!still()) transport.play();
  }

  function draw() {
    board.fold = folded(run, state.at);
    board.state = board.fold.end ? "finished" : "running";
    board.draw();
  }

  draw();
  return { stop: () => transport.pause(), board };
}

// The commit rule over the confidences of a recorded step, at any threshold.
function commitPicture(root, data, tell, state) {
  const stories = storiesWith(data, ["denoise"]);
  const top = make(root, "div", "cvl-controls");
  choice(top, state, { name: "story", label: tell("request"), options: named(stories, tell), changed: restart });
  const steps = () => need(data.sure[`${state.story}-denoise`]);
  const show = (step) => tell("step_of", { n: step, total: steps().length });
  const at = { name: "step", label: tell("step"), min: 1, max: steps().length, step: 1, value: 1, show, changed: draw };
  const step = slider(top, state, at);
  const columns = new Columns(root, tell("commit.columns"), { names: "turned", changed: draw });
  const grip = { name: "threshold", label: tell("threshold"), min: 0, max: 1, step: 0.01, value: 0.95, show: two };
  const threshold = slider(root, state, { ...grip, changed: draw });
  const says = sentence(root); // below what is dragged: its lines come and go
  const picked = make(root, "p", "cv-says");
  legend(root, tell, ["past", "over", "forced", "open"]);
  caveat(root, tell("commit.caveat"));
  if (cutShort(data, stories, "denoise")) caveat(root, tell("first_block"));

  function restart() {
    step.input.max = steps().length;
    step.set(1);
    draw();
  }

  function draw() {
    const run = need(data.runs[`${state.story}-denoise`]);
    const now = commitStep(run, steps()[state.step - 1], state.step, state.threshold);
    columns.show(now.rows.map((row, slot) => ({ ...row, says: told(row, slot) })));
    columns.line("bar", state.threshold, tell("commit.line", { bar: two(state.threshold) }));
    say(says, outcome(now));
    const pointed = columns.at === null ? null : now.rows[columns.at];
    say(picked, pointed ? told(pointed, columns.at) : tell("commit.point"));
  }

  const told = ({ kind, name, height }, slot) =>
    tell(`commit.${kind}`, { slot: slot + 1, token: quoted(name), sure: height.toFixed(4) });

  function outcome({ slots, forced, left, rows, surest, own }) {
    const values = { bar: two(state.threshold), left, n: slots.length };
    const surestRow = rows[surest];
    const forcedOne = { token: quoted(surestRow.name), sure: surestRow.height.toFixed(4) };
    const here = forced ? tell("commit.none", { ...values, ...forcedOne }) : tell("commit.some", values);
    const limit = tell("commit.limit", { sure: surestRow.height.toFixed(4) });
    const bar = two(data.runs[`${state.story}-denoise`].records[0].set.threshold);
    const recorded = tell(own.forced ? "commit.own_forced" : "commit.own", { n: own.slots.length, bar });
    return joined(tell, here, limit, recorded);
  }

  draw();
  dragged(columns.lines.bar.node, columns.plot, (height) => {
    threshold.set(Math.round(100 * height) / 100);
    draw();
  });
  return {};
}

// What the rule makes of one step: {rows, slots, forced, left, surest, own}; `own`: what the run committed there.
function commitStep(run, sure, step, threshold) {
  const before = folded(run, 2 + step).blocks[0].slots;
  const after = folded(run, 3 + step).blocks[0].slots;
  const open = sure.map((number) => number !== null);
  const { slots, forced } = commitRule(sure, open, threshold);
  const surest = commitRule(sure, open, 1).slots[0];
  const rows = after.map(({ token, confidence }, at) => {
    const kind = !open[at] ? "past" : !slots.includes(at) ? "open" : forced ? "forced" : "over";
    return { kind, name: open[at] ? token : before[at].token, height: open[at] ? sure[at] : confidence };
  });
  const own = { slots: after.map((_, at) => at).filter((at) => after[at].step === step) };
  own.forced = own.slots.length === 1 && after[own.slots[0]].forced;
  return { rows, slots, forced, surest, own, left: open.filter(Boolean).length - slots.length };
}

// Calls `moved` with a height from 0 to 1 while a line is dragged over its plot.
function dragged(line, plot, moved) {
  const at = (event) => {
    const box = plot.getBoundingClientRect();
    moved(Math.min(1, Math.max(0, (box.bottom - event.clientY) / box.height)));
  };
  line.classList.add("cvl-is-grip");
  line.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
    at(event);
  });
  line.addEventListener("pointermove", (event) => line.hasPointerCapture(event.pointerId) && at(event));
}

// Samples of the kinds a picture draws.
function legend(root, tell, kinds) {
  const list = make(root, "ul", "cvl-legend");
  for (const kind of kinds) {
    const item = make(list, "li");
    mark(make(item, "i", `cvl-sample-${kind}`), "aria-hidden", "true");
    make(item, "span").textContent = tell(`legend.${kind}`);
  }
}

// The stories whose runs in these modes are there and fit. Without any, the reason why.
function storiesWith(data, modes, fits = () => true) {
  const all = ["agent", "list", "prose"];
  const there = all.filter((name) => modes.every((mode) => !data.runs[`${name}-${mode}`].problem));
  const found = there.filter(fits);
  if (!there.length) for (const mode of modes) all.forEach((name) => need(data.runs[`${name}-${mode}`]));
  if (!found.length) throw new Error("no recorded run fits this picture");
  return found;
}

// Whether one of the runs goes on behind what is here of it.
function cutShort(data, stories, mode) {
  return stories.some((name) => !data.runs[`${name}-${mode}`].whole);
}

function named(stories, tell) {
  return stories.map((name) => [name, tell(`story.${name}`)]);
}
