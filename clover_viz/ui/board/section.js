// A part of the board under a caption: a row of items, and a line that tells of the one pointed at, or of them all.
class Section {
  constructor(root, { title, name, label, item, changed }) {
    this.node = make(root, "div", "cv-part");
    const line = make(this.node, "div", "cv-line");
    this.caption = make(line, "h3", "cv-caption");
    this.caption.textContent = title;
    this.says = make(line, "p", "cv-says");
    this.row = new Picker(make(this.node, "div", name), label, item, changed);
  }

  // The one of `things` whose item is pointed at.
  picked(things) {
    return this.row.at !== null && things[this.row.at];
  }

  // Draws every item anew whose `key` is another than when it was drawn last.
  fill(things, key, drawItem) {
    this.row.resize(things.length);
    things.forEach((thing, at) => {
      const item = this.row.items[at];
      const now = key(thing, at);
      if (item.node.key === now) return;
      item.node.key = now;
      drawItem(item, thing, at);
    });
  }
}
