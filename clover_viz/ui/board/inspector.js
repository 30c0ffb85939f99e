// What is known of the slot pointed at: its token, the other candidates, and how its confidence moved.
class Inspector {
  constructor(root) {
    this.node = make(root, "div", "cv-inspector");
    const glance = make(this.node, "div", "cv-glance");
    this.token = make(glance, "span", "cv-token");
    this.facts = make(glance, "span", "cv-facts");
    this.others = make(this.node, "p", "cv-others");
    this.trail = make(this.node, "p", "cv-trail");
    const spark = drawn(this.node, "svg", { viewBox: "0 0 200 48", class: "cv-spark", "aria-hidden": "true" });
    drawn(spark, "line", { x1: 0, x2: 200, y1: 44.5, y2: 44.5, class: "cv-base" });
    this.bar = drawn(spark, "line", { x1: 0, x2: 200, class: "cv-bar" });
    this.curve = drawn(spark, "polyline", { class: "cv-curve" });
    this.dot = drawn(spark, "circle", { r: 3, class: "cv-dot" });
  }

  draw(fold, block, at) {
    const slot = block && at !== null ? block.slots[at] : null;
    this.node.classList.toggle("cv-empty", !slot);
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
    this.drawCurve(fold, block, slot);
  }

  drawCurve(fold, block, slot) {
    const steps = Math.max(block.steps.length, 2);
    const first = fold.onePerPass && slot.step ? slot.step - 1 : 0;
    const x = (step) => (4 + (192 * (step - 1 - first)) / Math.max(steps - 1 - first, 1)).toFixed(1);
    const y = (sure) => (44 - 40 * sure).toFixed(1);
    mark(this.curve, "points", slot.trail.map(([step, sure]) => `${x(step)},${y(sure)}`).join(" "));
    const bar = fold.run && !fold.speculative ? fold.run.set.threshold : undefined;
    mark(this.bar, "visibility", bar === undefined ? "hidden" : "visible");
    if (bar !== undefined) for (const end of ["y1", "y2"]) mark(this.bar, end, y(bar));
    const tip = slot.trail[slot.trail.length - 1];
    mark(this.dot, "visibility", tip ? "visible" : "hidden");
    if (tip) {
      mark(this.dot, "cx", x(tip[0]));
      mark(this.dot, "cy", y(tip[1]));
    }
  }
}
