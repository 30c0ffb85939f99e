// Steps back through a run while it goes on.
class Past {
  constructor(head, board) {
    this.board = board;
    this.node = make(head, "div", "cv-past");
    mark(this.node, "role", "group");
    mark(this.node, "aria-label", tell("Step through this run"));
    this.back = this.button(tell("Step back"), "\u2039", () => board.step(-1));
    this.scrub = make(this.node, "input", "cv-scrub");
    Object.assign(this.scrub, { type: "range", min: 0, max: 0 });
    mark(this.scrub, "aria-label", tell("Events of this run"));
    this.scrub.addEventListener("input", () => board.step(Number(this.scrub.value) - board.place));
    this.forward = this.button(tell("Step forward"), "\u203a", () => board.step(1));
    this.says = make(this.node, "span", "cv-says");
    this.follow = this.button("", tell("Follow"), () => board.seek(null));
    this.follow.classList.add("cv-follow");
  }

  button(name, text, act) {
    const button = make(this.node, "button", "cv-chip");
    button.type = "button";
    button.textContent = text;
    if (name) mark(button, "aria-label", name);
    button.addEventListener("click", act);
    return button;
  }

  draw() {
    const { at, place, total, state } = this.board;
    this.node.hidden = total < 2;
    Object.assign(this.scrub, { max: total, value: place });
    say(this.says, tell("event {at} of {total}", { at: place, total }));
    mark(this.scrub, "aria-valuetext", this.says.textContent);
    this.back.disabled = !place;
    this.forward.disabled = this.follow.disabled = at === null;
    say(this.follow, tell(["waiting", "running"].includes(state) ? "Follow" : "To the end"));
  }
}
