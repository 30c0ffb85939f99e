// The controls of a player: buttons, the scrubber, and under it every pass of each recording at its time.
class Controls {
  constructor(root, player) {
    Object.assign(this, { root, player });
    const bar = make(root, "div", "cv-transport");
    this.back = this.button(bar, tell("Step back"), ICONS.back, () => player.step(-1));
    this.play = this.button(bar, "", ICONS.play, () => player.toggle());
    this.play.node.classList.add("cv-play");
    this.playWord = make(this.play.node, "span");
    this.forward = this.button(bar, tell("Step"), ICONS.forward, () => player.step(1));
    this.reading = make(bar, "p", "cv-reading");
    this.buildAxes(bar);
    this.buildSpeeds(bar);
    this.scrubber = make(root, "input", "cv-scrub");
    Object.assign(this.scrubber, { type: "range", min: 0, max: 0, value: 0 });
    mark(this.scrubber, "aria-label", tell("Position in the recording"));
    this.scrubber.addEventListener("input", () => player.scrub(Number(this.scrubber.value)));
    this.strips = make(root, "div", "cv-strips");
    this.aloud = make(root, "p", "cv-aloud");
    mark(this.aloud, "role", "status");
  }

  button(parent, name, icon, act) {
    const node = make(parent, "button", "cv-button");
    node.type = "button";
    if (name) {
      mark(node, "aria-label", name);
      node.title = name;
    }
    const path = drawn(drawn(node, "svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }), "path", { d: icon });
    node.addEventListener("click", act);
    return { node, path };
  }

  buildAxes(bar) {
    const group = make(bar, "div", "cv-choice");
    mark(group, "role", "group");
    mark(group, "aria-label", tell("Time axis"));
    this.axes = Object.entries(AXES).map(([axis, { label }]) => {
      const node = make(group, "button");
      node.type = "button";
      node.textContent = tell(label);
      node.addEventListener("click", () => this.player.setAxis(axis));
      return { axis, node };
    });
  }

  buildSpeeds(bar) {
    const label = make(bar, "label", "cv-speed");
    make(label, "span").textContent = tell("Speed");
    const speeds = make(label, "select");
    for (const speed of SPEEDS) speeds.add(new Option(`${speed}\u00d7`, speed, speed === 1, speed === 1));
    speeds.addEventListener("change", () => (this.player.speed = Number(speeds.value)));
  }

  // ---- drawing

  load(recordings, track) {
    this.titles = recordings.map(({ title }) => (recordings.length > 1 && tell.text(title)) || "");
    this.draw(track);
  }

  // All that depends on the recordings and the axis and not on the position.
  draw(track) {
    this.scrubber.max = track.end;
    this.scrubber.step = track.axis === "ms" ? "any" : 1;
    for (const { axis, node } of this.axes) mark(node, "aria-pressed", String(axis === track.axis));
    this.strips.replaceChildren();
    track.lines.forEach((line, at) => this.drawStrip(line, track, this.titles[at]));
  }

  drawStrip(line, { axis, end }, title) {
    const node = make(this.strips, "div", "cv-strip");
    const words = make(node, "p", "cv-strip-words");
    if (title) make(words, "b").textContent = title;
    const row = make(node, "div", "cv-strip-row");
    const box = { viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" };
    const svg = drawn(row, "svg", box);
    const span = axis === "ms" || end ? (1000 * line.time(axis, line.length)) / (end || 1) : 0;
    drawn(svg, "rect", { width: span, height: 10, class: "cv-span" });
    for (const kind of ["prefill", "preview", "replay", "verify", "decode"]) {
      const marks = line.times[axis].filter((_, at) => line.kinds[at] === kind);
      if (!marks.length || (kind === "prefill" && axis === "passes")) continue;
      const d = marks.map((time) => `M${(1000 * (end ? time / end : 0)).toFixed(1)} 0v10`).join("");
      drawn(svg, "path", { d, class: `cv-pass cv-pass-${kind}` });
      const told = make(words, "span", `cv-kind cv-kind-${kind}`);
      told.textContent = kind === "prefill" ? tell("prompt") : tell(`{n} ${kind}`, { n: marks.length });
    }
    const [tokens, ms] = [tell("{n} token | {n} tokens", { n: line.tokens }), line.time("ms", line.length).toFixed(0)];
    make(words, "span").textContent = tell("{tokens}, {ms} ms", { tokens, ms });
  }

  // All that depends on the position.
  show() {
    const { player } = this;
    const { position, length, playing } = player;
    this.back.node.disabled = !position;
    this.forward.node.disabled = position === length;
    this.play.node.disabled = !length;
    mark(this.play.path, "d", playing ? ICONS.pause : ICONS.play);
    say(this.playWord, tell(playing ? "Pause" : position && position === length ? "Again" : "Play"));
    this.clock(player.time);
    say(this.reading, this.words());
    mark(this.scrubber, "aria-valuetext", this.words());
    if (playing) return;
    say(this.aloud, [this.words(), ...player.lanes.map((lane) => lane.board.sentence())].join(tell(". ")));
  }

  // The thumb, which also moves between two positions while playing.
  clock(time) {
    const { end } = this.player.track;
    this.scrubber.value = time;
    this.strips.style.setProperty("--at", end ? Math.min(time / end, 1) : 0);
  }

  words() {
    const { player } = this;
    const { position, track, length } = player;
    const [time, end] = [track.time(position), track.end];
    const where = track.axis === "ms"
      ? tell("{time} of {end} ms", { time: time.toFixed(0), end: end.toFixed(0) })
      : tell("Pass {time} of {end}", { time, end });
    if (track.lines.length > 1) return where;
    return tell("{where}, event {at} of {total}", { where, at: position, total: length });
  }
}

const ICONS = {
  play: "M4 2l10 6-10 6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  back: "M12 2v12L5 8zM3 2h2v12H3z",
  forward: "M4 2v12l7-6zM11 2h2v12h-2z",
};
