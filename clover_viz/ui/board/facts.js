// What the board says of a slot, a step, a round, a draft and a layer, in the language of the page.

function slotLabel(block, at) {
  const slot = block.slots[at];
  const token = slot.token ? quoted(slot.token) : tell("no preview yet");
  return tell("slot {slot}, {token}, {facts}", { slot: at + 1, token, facts: slotFacts(block, at) });
}

function slotFacts(block, at) {
  const slot = block.slots[at];
  const place = tell("position {at}", { at: block.at + at });
  const state = tileState(slot, at, block);
  if (state === "unused") return `${tell("never needed")} \u00b7 ${place}`;
  if (!slot.token && !slot.trail.length) return `${tell("masked, no preview yet")} \u00b7 ${place}`;
  const draft = slot.check || state === "draft";
  const sure = tell(draft ? "draft confidence {sure}" : "confidence {sure}", { sure: slot.confidence.toFixed(4) });
  if (state === "given") return `${tell("given before the block began")} \u00b7 ${place}`;
  if (state === "masked") return `${tell("masked, current preview")} \u00b7 ${sure} \u00b7 ${place}`;
  if (draft) {
    const how = { draft: "draft, not verified yet", committed: "kept", dropped: "kept by the verifier, past the end" };
    const told = slot.check ? ` \u00b7 ${checked(slot.check)}` : "";
    return `${tell(how[state] || state)} \u00b7 ${sure}${told} \u00b7 ${place}`;
  }
  const how = `${slot.forced ? "forced" : "committed"} at step {step}${state === "dropped" ? ", not kept" : ""}`;
  return `${tell(how, { step: slot.step })} \u00b7 ${sure} \u00b7 ${place}`;
}

function stepFacts({ step, committed, forced, left, ms }) {
  const said = (how) => `step {step}: ${how}, {left} left, {ms} ms`;
  const how = forced ? said("1 slot forced") : `${said("{n} slot committed")} | ${said("{n} slots committed")}`;
  return tell(how, { step, n: committed.length, left, ms: ms.toFixed(0) });
}

function roundFacts({ index, accepted, slots, boundary }) {
  const said = (drafts) => `round {round}: {kept} of {n} ${drafts} kept, then {next}`;
  const values = { round: index + 1, kept: accepted, n: slots.length - 1, next: quoted(boundary.token) };
  return tell(`${said("draft")} | ${said("drafts")}`, values);
}

// What else the model thought of: of the preview, and of the causal pass on a draft.
function candidates({ top, check }) {
  const listed = (tokens) => tokens.map(([token, p]) => `${quoted(token)} ${two(p)}`).join("  ");
  const own = top ? tell("preview: {tokens}", { tokens: listed(top) }) : "";
  const causal = check && check.top ? tell("causal: {tokens}", { tokens: listed(check.top) }) : "";
  return [own, causal].filter(Boolean).join("   \u00b7   ");
}

function checked({ probability, entropy, bar }) {
  const values = { p: probability.toFixed(4), entropy: two(entropy) };
  if (bar === null) return tell("causal probability {p}, entropy {entropy} nats", values);
  const against = "causal probability {p} against a bar of {bar}, entropy {entropy} nats";
  return tell(against, { ...values, bar: two(bar) });
}

function checkFacts({ token, state, check }, at) {
  const fates = { committed: "kept", rejected: "the first refused", discarded: "not kept" };
  const fate = tell(fates[state] || "not verified yet");
  const facts = check ? tell("{check}, {fate}", { check: checked(check), fate }) : fate;
  return tell("draft {at} {token}: {facts}", { at, token: quoted(token), facts });
}

function layerFacts(layer, touched, kept, rerouted) {
  const said = "layer {layer}: {kept} kept of {touched} touched, {lost} re-routed a slot";
  return tell(said, { layer, kept, touched, lost: two(rerouted) });
}
