// One chip a block: which of them is drawn, and the way back to an earlier one.
class Chips {
  constructor(head, board) {
    this.board = board;
    this.node = make(head, "div", "cv-blocks");
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", tell("Blocks of this answer"));
  }

  draw({ blocks }, at) {
    const { node } = this;
    node.hidden = blocks.length < 2;
    while (node.children.length > blocks.length) node.lastChild.remove();
    blocks.forEach((block, place) => {
      const chip = node.children[place] || this.makeChip(place);
      const steps = block.steps.length;
      const told = block.round ? tell("{n} kept", { n: block.accepted }) : tell("{n} step | {n} steps", { n: steps });
      say(chip.lastChild, block.round ? `+${block.accepted}` : `\u00d7${steps}`);
      mark(chip, "title", told);
      mark(chip, "aria-pressed", String(place === at));
      mark(chip, "aria-label", `${this.board.named(place)}, ${told}`);
    });
    const chip = node.children[at];
    if (!chip || chip === this.inSight) return;
    this.inSight = chip; // only when it changes: the visitor may scroll them
    node.scrollLeft = chip.offsetLeft + chip.offsetWidth + 8 - node.offsetLeft - node.clientWidth;
  }

  makeChip(place) {
    const chip = make(this.node, "button", "cv-chip");
    chip.type = "button";
    make(chip, "b").textContent = String(place + 1);
    make(chip, "small");
    chip.addEventListener("click", () => this.board.pin(place));
    return chip;
  }
}
