// The steps of a block, by the slots they committed; in self-speculation the rounds so far, by the drafts kept.
class Ruler extends Section {
  constructor(root, changed) {
    const label = tell("Steps of the block, by the slots they committed");
    super(root, { title: tell("Steps of this block"), name: "cv-ruler", label, item: makeStep, changed });
  }

  draw(fold, block) {
    if (fold.speculative) this.drawRounds(fold);
    else this.drawSteps(block ? block.steps : []);
  }

  drawSteps(steps) {
    say(this.caption, tell("Steps of this block"));
    const top = Math.max(8, ...steps.map((step) => step.committed.length));
    const key = (step) => `${step.step} ${step.committed.length} ${step.forced} ${top}`;
    this.fill(steps, key, ({ node, fill, number }, step) => {
      node.classList.toggle("cv-forced", step.forced);
      fill.style.height = `${(100 * step.committed.length) / top}%`;
      fill.style.background = `var(--cv-step-${Math.min(step.step, 32)})`;
      number.textContent = String(step.step);
      node.setAttribute("aria-label", stepFacts(step));
    });
    const picked = this.picked(steps);
    const sum = steps.reduce((total, step) => total + step.committed.length, 0);
    const slots = tell("{n} slot | {n} slots", { n: sum });
    const whole = { slots, steps: tell("{n} step | {n} steps", { n: steps.length }) };
    const all = steps.length ? tell("{slots} in {steps}", whole) : tell("none yet");
    say(this.says, picked ? stepFacts(picked) : all);
  }

  drawRounds(fold) {
    const { rounds } = fold;
    const facts = (round) => roundFacts(round, fold.endsIn(round));
    say(this.caption, tell("Rounds of this answer"));
    const key = (round, at) => `round ${at} ${round.accepted} ${fold.endsIn(round)}`;
    const grown = rounds.length !== this.row.items.length;
    this.fill(rounds, key, ({ node, fill, number }, round) => {
      node.classList.remove("cv-forced");
      fill.style.height = `${(100 * round.accepted) / Math.max(1, round.slots.length - 1)}%`;
      fill.style.background = "var(--cv-step-1)";
      number.textContent = String(round.accepted);
      node.setAttribute("aria-label", facts(round));
    });
    if (grown) this.row.node.scrollLeft = this.row.node.scrollWidth; // there may be more than fit
    const picked = this.picked(rounds);
    const sum = rounds.reduce((total, round) => total + round.accepted, 0);
    const drafts = tell("{n} draft | {n} drafts", { n: sum });
    const whole = { drafts, rounds: tell("{n} round | {n} rounds", { n: rounds.length }) };
    const all = rounds.length ? tell("{drafts} kept in {rounds}", whole) : tell("none yet");
    say(this.says, picked ? facts(picked) : all);
  }
}
