// The items of the board's rows, and how a slot is drawn.

function makeTile(node) {
  node.className = "cv-tile";
  const [word, step] = [make(node, "span", "cv-word"), make(node, "span", "cv-step")];
  return { word, step, sure: make(node, "i", "cv-sure") };
}

function makeStep(node) {
  node.className = "cv-tick";
  return { fill: make(make(node, "span", "cv-shaft"), "i"), number: make(node, "span", "cv-number") };
}

function makeLayer(node) {
  node.className = "cv-layer";
  return { fill: make(node, "i", "cv-touched"), number: make(node, "i", "cv-kept") };
}

function makeCheck(node) {
  node.className = "cv-check";
  return { fill: make(node, "i", "cv-share"), line: make(node, "b", "cv-limit") };
}

function drawTile({ node, word, step, sure }, at, slot, block, latest) {
  const state = tileState(slot, at, block);
  const now = slot.step === latest && latest > 0;
  const key = `${state} ${slot.step} ${slot.forced} ${now} ${slot.confidence} ${slot.id} ${slot.token}`;
  if (node.key === key) return;
  node.key = key;
  const forced = slot.forced ? " cv-forced" : "";
  node.className = `cv-tile cv-${state}${forced}${now ? " cv-now" : ""}`;
  word.textContent = state === "unused" ? "" : shown(slot.token);
  word.classList.toggle("cv-long", slot.token.length > 8);
  step.textContent = slot.step ? String(slot.step) : "";
  const solid = state === "committed";
  node.style.background = solid ? `var(--cv-step-${Math.min(slot.step, 32)})` : "";
  node.style.color = solid ? `var(--cv-step-ink-${Math.min(slot.step, 32)})` : "";
  node.style.setProperty("--sure", state === "masked" || state === "draft" ? slot.confidence : 0);
  node.setAttribute("aria-label", block ? slotLabel(block, at) : tell("slot {slot}, empty", { slot: at + 1 }));
}

// masked, committed, given and draft are the events' own; rejected: the first draft refused; discarded: those after it.
// unused: the run ended before it was filled; dropped: committed past the end, and not kept.
function tileState(slot, at, block) {
  if (!block || ["given", "draft", "rejected", "discarded"].includes(slot.state)) return slot.state;
  if (block.closed && at >= block.kept) return slot.state === "committed" ? "dropped" : "unused";
  return block.closed && slot.state === "masked" ? "unused" : slot.state;
}
