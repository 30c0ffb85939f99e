// The lesson's arithmetic, pure. rules.py says what each number means and holds the same budget in Python.
const CLOVER = { layers: 40, experts: 256, aToken: 8, expert: 3 * 2048 * 512, dense: 1940536768, bytes: 2 };

// {dense, preview, verify} in bytes, `total` of them, `ms` a round takes, tokens a round `needed`, and the `ceiling`.
function budget(bandwidth, efficiency, preview, verify, target) {
  const { layers, aToken, expert, bytes } = CLOVER;
  const dense = 2 * CLOVER.dense * bytes;
  const [drafted, verified] = [preview, verify].map((experts) => layers * experts * expert * bytes);
  const total = dense + drafted + verified;
  const seconds = total / (bandwidth * 1e12 * efficiency);
  const token = (CLOVER.dense + layers * aToken * expert) * bytes;
  const ceiling = (bandwidth * 1e12) / token;
  return { dense, preview: drafted, verify: verified, total, ms: 1000 * seconds, needed: target * seconds, ceiling };
}

function historyShare(bias, c, scale, readout, likeness, slots) {
  const history = bias + c * Math.sqrt(readout * readout + 1e-6);
  return 1 / (1 + slots * Math.exp(scale * likeness - history));
}

// The commit rule: {slots, forced}. sure: a confidence for each slot; open: whether it is still masked. Strictly above,
// in fp32 on both sides; the surest alone, the lowest slot of equals, when none is above.
function commitRule(sure, open, threshold) {
  const bar = Math.fround(threshold);
  const waiting = sure.map((_, slot) => slot).filter((slot) => open[slot]);
  const over = waiting.filter((slot) => Math.fround(sure[slot]) > bar);
  if (over.length || !waiting.length) return { slots: over, forced: false };
  const surest = waiting.reduce((best, slot) => (sure[slot] > sure[best] ? slot : best));
  return { slots: [surest], forced: true };
}

// The threshold rule of the verifier: the bar of a draft whose causal distribution has this entropy (nats).
function acceptanceBar(entropy, ratio, delta) {
  return Math.min(ratio, delta * Math.exp(-entropy));
}

// How many leading checks [probability, entropy] reach their bar.
function keptByThreshold(checks, ratio, delta) {
  const refused = checks.findIndex(([probability, entropy]) => probability < acceptanceBar(entropy, ratio, delta));
  return refused < 0 ? checks.length : refused;
}

// Which slots of a block a slot sees in a pass over `slots` of them: all in a preview, none behind it in a causal one.
function sees(pass, from, to) {
  return pass === "preview" || to <= from;
}
