// The verifier's row: the causal pass's probability of each draft, against its bar where the rule has one.
class Checks extends Section {
  constructor(root, changed) {
    const label = tell("Drafts, by the causal pass's probability");
    const title = tell("Verifier: the causal pass on each draft");
    super(root, { title, name: "cv-checks", label, item: makeCheck, changed });
  }

  draw(fold, block) {
    const on = fold.speculative;
    this.node.hidden = !on;
    const slots = on && block && block.round ? block.slots.slice(1) : [];
    const key = ({ state, check }) => (check ? `${state} ${check.probability} ${check.bar}` : "waiting");
    this.fill(slots, key, ({ node, fill, line }, slot, at) => {
      const { check } = slot;
      node.className = `cv-check cv-check-${check ? slot.state : "waiting"}`;
      fill.style.height = check ? `${100 * check.probability}%` : "0";
      line.hidden = !check || check.bar === null;
      if (!line.hidden) line.style.bottom = `${100 * check.bar}%`;
      node.setAttribute("aria-label", checkFacts(slot, at + 1));
    });
    const picked = this.picked(slots);
    const kept = block && block.boundary && { kept: block.accepted, total: slots.length };
    const all = kept ? tell("{kept} of {total} kept", kept) : tell("not verified yet");
    say(this.says, picked ? checkFacts(picked, this.row.at + 1) : all);
  }
}
