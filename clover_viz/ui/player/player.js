// Plays one recording, or two on one time axis, from records that are all here: no server, no rerun. The board at a
// position is the fold of the records up to it. After every move `root` hears "moved" with detail {position}.
class Player {
  // parts: names of LANE_PARTS to show, null for those that fit; autoplay: begins once loaded, where motion is welcome
  constructor(root, { parts = null, autoplay = false } = {}) {
    const unknown = (parts || []).find((name) => !(name in LANE_PARTS));
    if (unknown) throw new Error(`parts must be of ${Object.keys(LANE_PARTS).join(", ")}, got ${unknown}`);
    Object.assign(this, { root, parts, autoplay, speed: 1, playing: false, lanes: [], position: 0, time: 0, loads: 0 });
    this.track = new Track([], "passes");
    root.classList.add("cv-player");
    mark(root, "role", "group");
    mark(root, "aria-label", tell("Player"));
    this.controls = new Controls(make(root, "div", "cv-controls"), this);
    this.stage = make(root, "div", "cv-lanes");
    root.addEventListener("keydown", (event) => this.key(event));
  }

  // Takes one recording, or two to compare, and stands before its first record.
  load(...recordings) {
    this.pause();
    this.loads += 1;
    while (this.lanes.length < recordings.length) this.lanes.push(new Lane(this.stage));
    while (this.lanes.length > recordings.length) this.lanes.pop().node.remove();
    mark(this.root, "data-lanes", String(recordings.length));
    const parts = this.parts || Object.keys(LANE_PARTS).filter((name) => recordings.length === 1 || name !== "key");
    recordings.forEach((recording, at) => this.lanes[at].load(recording, `${this.loads}-${at}`, parts));
    this.track = new Track(recordings.map((recording) => new Timeline(recording)), this.track.axis);
    this.controls.load(recordings, this.track);
    this.seek(0);
    if (this.autoplay && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  get length() {
    return this.track.length;
  }

  get axis() {
    return this.track.axis;
  }

  // ---- moving

  // Shows what there was at a position, 0..length; one outside is the nearest inside.
  seek(position) {
    const to = Math.min(Math.max(Math.round(position) || 0, 0), this.length);
    this.move(to, this.track.time(to));
  }

  step(by) {
    this.pause();
    this.seek(this.position + by);
  }

  // To a time of the axis.
  scrub(time) {
    this.pause();
    this.move(this.track.find(time), time);
  }

  move(position, time) {
    Object.assign(this, { position, time });
    this.track.prefixes(position).forEach((length, at) => this.lanes[at].show(length));
    this.controls.show();
    this.root.dispatchEvent(new CustomEvent("moved", { detail: { position } }));
  }

  setAxis(axis) {
    if (axis === this.axis) return;
    const [track, position] = this.track.moved(this.position, axis);
    this.track = track;
    this.controls.draw(track);
    this.seek(position);
  }

  // ---- playing

  play() {
    if (this.playing || !this.length) return;
    if (this.position === this.length) this.seek(0);
    this.playing = true;
    this.controls.show();
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      if (!this.root.offsetParent) return this.pause(); // nobody can see it
      const time = advance(this.time, now - last, this.axis, this.speed);
      last = now;
      const position = time >= this.track.end ? this.length : upTo(this.track.times, time);
      if (position > this.position) this.move(position, Math.min(time, this.track.end));
      else this.controls.clock((this.time = time));
      if (position === this.length) return this.pause();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.controls.show();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  // ---- keys

  key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const { key, target } = event;
    if (target.closest("select, textarea, a, input:not([type=range])")) return;
    if (key === " " && target.closest("button")) return; // the button's own press
    const act = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.step(-this.length),
      End: () => this.step(this.length),
    }[key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

// What a lane can show, and where its elements are.
const LANE_PARTS = {
  text: ".cv-sofar",
  head: ".cv-head",
  tiles: ".cv-tiles",
  key: ".cv-key",
  inspector: ".cv-inspector",
  ruler: ".cv-part:has(.cv-ruler)",
  checks: ".cv-part:has(.cv-checks)",
  experts: ".cv-part:has(.cv-experts)",
  meters: ".cv-meters",
};

// One recording of those on show: its title, its text, its board.
class Lane {
  constructor(parent) {
    this.node = make(parent, "section", "cv-lane");
    this.title = make(this.node, "h2", "cv-lane-title");
    this.text = new SoFar(this.node);
    this.board = new Board(make(this.node, "div"), null);
    this.board.aloud.remove(); // the player itself speaks
    const aside = make(this.board.root, "div", "cv-aside"); // beside the tiles where there is room
    const { ruler, checks, experts, meters } = LANE_PARTS;
    for (const part of [ruler, checks, experts, meters]) aside.append(this.node.querySelector(part));
    // By its own width, not the window's. No container query: Gradio drops those from a page's sheet.
    new ResizeObserver(([{ contentRect: { width } }]) => {
      this.node.classList.toggle("cv-wide", width >= 900);
      this.node.classList.toggle("cv-narrow", width > 0 && width <= 460);
    }).observe(this.node);
  }

  load(recording, id, parts) {
    for (const [name, where] of Object.entries(LANE_PARTS)) {
      this.node.querySelector(where).classList.toggle("cv-off", !parts.includes(name));
    }
    const title = tell.text(recording.title || "");
    say(this.title, title);
    this.title.hidden = !title;
    mark(this.board.root, "aria-label", title ? tell("Block board: {title}", { title }) : tell("Block board"));
    this.text.load(recording);
    this.board.frame(JSON.stringify({ run: id, state: "finished", from: 0, records: recording.records }));
  }

  show(length) {
    this.board.seek(length);
    this.text.show(length, this.board.fold);
  }
}
