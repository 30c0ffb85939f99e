// Phrases in the page's language. A pattern may hold {values}; "one | many" is chosen by the value `n`.
function phrase(pattern, values = {}) {
  const [one, many] = pattern.split(" | ");
  return (many === undefined || values.n === 1 ? one : many).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// `tell(key, values)` over {language: {key: pattern}}. Where a language has no pattern the English one stands, and
// without that the key itself: it may be the English text. The language is the one Gradio chose for the page, which
// stands on the document, unless `tell.language` was set.
// `tell.text(text)` tells an English text that came whole, over {language: {English pattern: pattern}}.
function teller(patterns, sentences = {}) {
  const language = () => known(tell.language || (globalThis.document ? document.documentElement.lang : "en"));
  const tell = (key, values) => {
    const own = patterns[language()] || {};
    return phrase(own[key] ?? (patterns.en || {})[key] ?? key, values);
  };
  const compiled = {};
  tell.text = (text) => {
    const speech = language();
    if (!text || !sentences[speech]) return text;
    compiled[speech] ??= retellings(sentences[speech]);
    return retold(text, compiled[speech]);
  };
  return tell;
}

// The language of ours that fits a BCP 47 tag: any Chinese is served in Simplified Chinese.
function known(tag) {
  return /^zh\b/i.test(tag || "") ? "zh-CN" : "en";
}

// A text as a whole by the pattern that fits, or else sentence by sentence; what none fits stays as it is.
// clover_viz/ui/retelling.py is the same for what Python must tell, and says more of the patterns.
function retold(text, made) {
  const whole = made.find(({ fits }) => fits.test(text));
  if (whole) return filled(whole, text, made);
  let [told, gap] = ["", ""];
  for (const sentence of text.replace(/([.!?]) (?=[A-Z0-9])/g, "$1\0").split("\0")) {
    const found = made.find(({ fits }) => fits.test(sentence));
    told += gap + (found ? filled(found, sentence, made) : sentence);
    gap = found ? "" : " ";
  }
  return told;
}

function filled({ fits, names, told }, sentence, made) {
  const values = fits.exec(sentence).slice(1);
  const spoken = names.map((name, at) => [name, /^(own|word)/.test(name) ? values[at] : retold(values[at], made)]);
  return phrase(told, Object.fromEntries(spoken));
}

const NUMBER = "([0-9.,]*[0-9]%?)";
const WORD = "([^ ]+)";
const OWN = "([^]+?)"; // somebody's own text
const PART = "((?:(?![.!?] [A-Z0-9])[^])+?)"; // of a sentence

// The patterns as expressions, the ones with most words of their own first.
function retellings(patterns) {
  const made = Object.entries(patterns).flatMap(([english, told]) => english.split(" | ").map((half) => {
    const parts = half.split(/\{(\w+)\}/);
    const names = parts.filter((_, at) => at % 2);
    const source = parts.map((part, at) => {
      if (at % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      if (part.length === 1) return NUMBER;
      return part.startsWith("own") ? OWN : part.startsWith("word") ? WORD : PART;
    });
    const words = parts.reduce((sum, part, at) => sum + (at % 2 ? 0 : part.length), 0);
    return { fits: new RegExp(`^${source.join("")}$`), names, told, words };
  }));
  return made.sort((a, b) => b.words - a.words);
}
