// A row of items that can be pointed at, tapped, or walked through with the arrow keys. `at`: the one picked, or null.
class Picker {
  constructor(node, label, makeItem, changed) {
    Object.assign(this, { node, makeItem, changed, items: [], at: null, held: null });
    // Counted on the document: every component of the page has a Picker of its own.
    node.id = node.id || `cv-${(document.cvPickers = (document.cvPickers || 0) + 1)}`;
    mark(node, "role", "listbox");
    mark(node, "aria-label", label);
    node.addEventListener("pointermove", (event) => this.pick(this.under(event)));
    node.addEventListener("pointerleave", () => this.pick(this.held));
    node.addEventListener("click", (event) => this.hold(this.under(event)));
    node.addEventListener("blur", () => this.hold(null));
    node.addEventListener("keydown", (event) => this.key(event));
  }

  under(event) {
    const item = event.target.closest("[role=option]");
    return item && this.node.contains(item) ? item.at : this.at;
  }

  key(event) {
    const across = this.columns();
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Escape") return this.hold(null);
    if (!move || !this.items.length) return;
    event.preventDefault();
    const from = this.at === null ? (move > 0 ? -1 : 0) : this.at;
    this.hold(Math.min(this.items.length - 1, Math.max(0, this.at === null && move > 0 ? 0 : from + move)));
  }

  columns() {
    const first = this.items[0];
    const below = this.items.findIndex(({ node }) => node.offsetTop > first.node.offsetTop);
    return below > 0 ? below : 1;
  }

  hold(at) {
    this.held = at;
    this.pick(at);
  }

  pick(at) {
    if (at === this.at) return;
    for (const [place, on] of [[this.at, false], [at, true]]) {
      if (place !== null && this.items[place]) mark(this.items[place].node, "aria-selected", String(on));
    }
    this.at = at;
    if (at === null) this.node.removeAttribute("aria-activedescendant");
    else mark(this.node, "aria-activedescendant", `${this.node.id}-${at}`);
    this.changed();
  }

  resize(length) {
    if (length === this.items.length) return;
    while (this.items.length > length) this.items.pop().node.remove();
    while (this.items.length < length) {
      const node = make(this.node, "div");
      Object.assign(node, { at: this.items.length, id: `${this.node.id}-${this.items.length}` });
      mark(node, "role", "option");
      mark(node, "aria-selected", "false");
      this.items.push({ node, ...this.makeItem(node) });
    }
    // An empty list of options is no place to stop at with the Tab key.
    if (length) mark(this.node, "tabindex", "0");
    else this.node.removeAttribute("tabindex");
    if (this.at !== null && this.at >= length) this.hold(null);
  }
}
