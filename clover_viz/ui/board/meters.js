// The numbers under the board.
class Meters {
  constructor(root) {
    const list = make(root, "dl", "cv-meters");
    for (const [name, label] of [
      ["per", "tokens / pass"],
      ["round", "tokens / round"],
      ["rate", "tokens / s"],
      ["passes", "passes after prefill"],
      ["kept", "experts kept"],
      ["rerouted", "re-routed"],
    ]) {
      const meter = make(list, "div", "cv-meter");
      make(meter, "dt").textContent = tell(label);
      this[name] = { node: meter, value: make(meter, "dd", "cv-value"), rest: make(meter, "dd", "cv-rest") };
    }
  }

  draw(fold, block) {
    const { end, passes, tokens } = fold;
    const total = fold.passesAfterPrefill;
    const per = end ? end.per : total ? tokens / total : null;
    const told = tokens ? tell("{n} token | {n} tokens", { n: tokens }) : "";
    meter(this.per, per === null ? null : two(per), told);
    const round = fold.tokensPerRound;
    this.round.node.hidden = !fold.speculative;
    meter(this.round, round === null ? null : two(round), tell("{n} round | {n} rounds", { n: fold.rounds.length }));
    const rate = end ? end.rate : fold.ms ? (1000 * tokens) / fold.ms : null;
    const seconds = end ? tell("{sec} s in all", { sec: end.sec.toFixed(1) }) : "";
    meter(this.rate, rate === null ? null : rate.toFixed(rate < 10 ? 1 : 0), seconds);
    const kinds = ["preview", "replay", "verify", "decode"].filter((kind) => passes[kind]);
    const byKind = kinds.map((kind) => tell(`{n} ${kind}`, { n: passes[kind] })).join(" + ");
    meter(this.passes, total ? String(total) : null, byKind);
    this.kept.node.hidden = this.rerouted.node.hidden = fold.onePerPass;
    const experts = fold.expertsOf(block);
    const [touched, kept, rerouted] = experts ? experts.map(mean) : [];
    const of = experts ? tell("of {touched} touched, a layer", { touched: touched.toFixed(1) }) : "";
    meter(this.kept, experts ? kept.toFixed(1) : null, of);
    meter(this.rerouted, experts ? two(rerouted) : null, experts ? tell("experts lost, a slot") : "");
  }
}
