// Draws the conversation from one JSON text. Neither side of it is trusted: everything enters as textContent.
class Conversation {
  constructor(root) {
    this.root = root;
    root.classList.add("cv-talk");
    root.setAttribute("role", "log");
    root.setAttribute("aria-label", tell("Conversation"));
    root.setAttribute("aria-live", "off"); // the board's status line speaks, at a pace one can follow
    root.setAttribute("tabindex", "0");
    this.blank = put(root, "p", "cv-blank");
    this.blank.textContent = tell("Ask something, or take one of the examples below.");
    this.turns = [];
    this.text = "";
  }

  show(text) {
    this.text = text;
    const { turns } = text ? JSON.parse(text) : { turns: [] };
    const low = this.root.scrollHeight - this.root.scrollTop - this.root.clientHeight < 48;
    const grown = turns.length > this.turns.length;
    this.blank.hidden = turns.length > 0;
    while (this.turns.length > turns.length) this.turns.pop().node.remove();
    turns.forEach((turn, at) => {
      const place = this.turns[at] || (this.turns[at] = this.make());
      set(place.prompt, turn.u);
      set(place.answer, turn.a || (["waiting", "running"].includes(turn.s) ? "\u2026" : ""));
      set(place.note, tell.text(turn.n));
      place.copy.hidden = !turn.a || ["waiting", "running"].includes(turn.s);
      set(place.thinking, (turn.t || "").trim());
      place.thinking.parentNode.hidden = !place.thinking.textContent;
      place.answer.parentNode.hidden = !place.answer.textContent;
      place.node.dataset.state = turn.s;
      place.answer.classList.toggle("cv-code", looksLikeCode(turn.a));
      place.prompt.classList.toggle("cv-code", looksLikeCode(turn.u));
    });
    if (low || grown) this.root.scrollTop = this.root.scrollHeight;
  }

  async copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
      told(button, tell("Copied"));
    } catch {
      told(button, tell("The browser forbids copying"));
    }
  }

  make() {
    const node = put(this.root, "div", "cv-turn");
    const part = (who, name) => {
      const part = put(node, "div", name);
      put(part, "span", "cv-who").textContent = who;
      return put(part, "div", "cv-text");
    };
    const [prompt, thinking, answer] = [
      part(tell("You"), "cv-prompt"), part(tell("Thinking"), "cv-thinking"), part("Clover", "cv-answer"),
    ];
    const foot = put(node, "div", "cv-foot");
    const note = put(foot, "p", "cv-note");
    const copy = put(foot, "button", "cv-copy");
    copy.type = "button";
    copy.textContent = tell("Copy");
    copy.setAttribute("aria-label", tell("Copy this answer"));
    copy.addEventListener("click", () => this.copy(answer.textContent, copy));
    return { node, prompt, thinking, answer, note, copy };
  }
}

function told(button, word) {
  button.textContent = word;
  setTimeout(() => (button.textContent = tell("Copy")), 1500);
}

// JSON, markup, fenced or indented text keeps its columns in a monospace face.
function looksLikeCode(text) {
  return /^\s*(```|[{[<])/.test(text) || /\n( {2,}|\t)\S/.test(text);
}

function put(parent, tag, name) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
