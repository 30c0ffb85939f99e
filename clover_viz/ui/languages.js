// Phrases in the page's language. A pattern may hold {values}; "one | many" is chosen by the value `n`.
function phrase(pattern, values = {}) {
  const [one, many] = pattern.split(" | ");
  return (many === undefined || values.n === 1 ? one : many).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// `tell(key, values)` over {language: {key: pattern}}. Where a language has no pattern the English one stands, and
// without that the key itself: it may be the English text. The language is the one Gradio chose for the page, which
// stands on the document, unless `tell.language` was set.
function teller(patterns) {
  const tell = (key, values) => {
    const page = globalThis.document ? document.documentElement.lang : "en";
    const own = patterns[known(tell.language || page)] || {};
    return phrase(own[key] ?? (patterns.en || {})[key] ?? key, values);
  };
  return tell;
}

// The language of ours that fits a BCP 47 tag: any Chinese is served in Simplified Chinese.
function known(tag) {
  return /^zh\b/i.test(tag || "") ? "zh-CN" : "en";
}
