// The player's tab: draws what the server sends as one JSON text, {recordings, link}, and saves files.
class PlayerTab {
  constructor(root) {
    this.player = new Player(make(root, "div"));
    const share = make(root, "div", "cv-sharing");
    this.link = make(share, "a", "cv-link");
    this.link.textContent = tell("Chat with this prompt and these settings");
    Object.assign(this.link, { target: "_blank", rel: "noopener" });
    this.copy = make(share, "button", "cv-button");
    this.copy.type = "button";
    this.copy.textContent = tell("Copy link");
    this.copy.addEventListener("click", () => this.copyLink());
    this.says = make(share, "p", "cv-says");
    mark(this.says, "role", "status");
    this.share = share;
    this.share.hidden = true;
  }

  show(text) {
    if (!text) return;
    const { recordings, link } = JSON.parse(text);
    this.player.load(...recordings);
    this.player.seek(this.player.length); // the whole run to look at; playing begins at its start
    this.share.hidden = !link;
    if (!link) return;
    this.link.href = link.query;
    say(this.says, tell.text(link.says));
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(this.link.href);
      say(this.says, tell("Copied."));
    } catch {
      say(this.says, tell("The browser forbids copying. The link is {link}", { link: this.link.href }));
    }
  }
}

// One line that says what is wrong, or nothing.
class PlayerNote {
  constructor(node) {
    this.node = node;
    node.className = "cv-player-note";
    mark(node, "role", "alert");
  }

  show(text) {
    say(this.node, tell.text(text || ""));
  }
}

// Saves a file that came as one JSON text, {name, type, data: base64}.
function saveFile(text) {
  if (!text) return;
  const { name, type, data } = JSON.parse(text);
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
