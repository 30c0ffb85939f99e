// Keeps this browser tab's last run and conversation over a reload. They stay in the tab: no other one sees them.
const MEMORY = { board: "clover-viz-board", talk: "clover-viz-talk" };

function rememberBoard(board) {
  const saved = recalled("board");
  if (saved && board.id === null) board.frame(saved);
  addEventListener("pagehide", () => keep("board", board.snapshot()));
}

function rememberTalk(talk) {
  addEventListener("pagehide", () => keep("talk", talk.turns.length ? talk.text : null));
}

// Storage may be forbidden or full: then a reload begins anew, as it would without it.
function recalled(name) {
  try {
    return sessionStorage.getItem(MEMORY[name]);
  } catch {
    return null;
  }
}

function keep(name, text) {
  try {
    if (text === null) sessionStorage.removeItem(MEMORY[name]);
    else sessionStorage.setItem(MEMORY[name], text);
  } catch {
    return;
  }
}
