// What the board says of a slot, a step, a round, a draft and a layer, in the language of the page.

function slotLabel(block, at) {
  const slot = block.slots[at];
  const values = { slot: at + 1, token: quoted(slot.token), facts: slotFacts(block, at) };
  return tell(slot.token ? "slot {slot}, {token}, {facts}" : "slot {slot}, {facts}", values);
}

function slotFacts(block, at) {
  const slot = block.slots[at];
  const place = tell("position {at}", { at: block.at + at });
  const state = tileState(slot, at, block);
  if (state === "unused") return `${tell("never needed")} \u00b7 ${place}`;
  if (!slot.token && !slot.trail.length) {
    return `${tell(block.window ? "not written yet" : "masked, no preview yet")} \u00b7 ${place}`;
  }
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

// ends: whether the text ends among the drafts that were kept.
function roundFacts({ index, accepted, slots, boundary }, ends) {
  const then = ends ? "; the text ends there" : ", then {next}";
  const said = (drafts) => `round {round}: {kept} of {n} ${drafts} kept${then}`;
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
