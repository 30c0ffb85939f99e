// The experts strip: in each layer, how many experts the block's slots touched and how many the coreset kept.
class Experts extends Section {
  constructor(root, changed) {
    const label = tell("Layers, by the experts touched and kept");
    super(root, { title: tell("Experts by layer"), name: "cv-experts", label, item: makeLayer, changed });
    this.drawn = undefined; // the step on show
  }

  draw(fold, block) {
    const last = fold.expertsOf(block);
    this.node.hidden = fold.onePerPass;
    const [touched, kept, rerouted] = last || [[], [], []];
    this.row.resize(touched.length);
    if (this.drawn !== last) {
      this.drawn = last;
      const top = Math.max(1, ...touched);
      touched.forEach((number, at) => {
        const { node, fill, number: keep } = this.row.items[at];
        fill.style.height = `${(100 * number) / top}%`;
        keep.style.height = `${(100 * kept[at]) / top}%`;
        node.setAttribute("aria-label", layerFacts(at, number, kept[at], rerouted[at]));
      });
    }
    const { at } = this.row;
    if (last && at !== null && at < touched.length) {
      return say(this.says, layerFacts(at, touched[at], kept[at], rerouted[at]));
    }
    if (!last) return say(this.says, tell("none yet"));
    const values = { kept: range(kept), touched: range(touched) };
    if (block.boundary) values.causal = range(block.touched);
    const causal = block.boundary ? "; the causal pass touched {causal}" : "";
    return say(this.says, tell(`kept {kept} of {touched} touched${causal}`, values));
  }
}
