// The lesson: one screen an idea, each with its picture. Everything it says comes with the data, in two languages.
const PICTURES = {
  lanes: lanesPicture, board: boardPicture, commit: commitPicture, error: errorPicture, cache: cachePicture,
  history: historyPicture, coreset: coresetPicture, verify: verifyPicture, budget: budgetPicture, limits: limitsPicture,
};
const LANGUAGE = "cv-language"; // where the visitor's choice is kept
const LINK = /^#lesson-(\d+)$/;

class Lesson {
  constructor(root, text) {
    Object.assign(this, { root, ...JSON.parse(text), states: [], picture: null });
    this.tell = teller(this.words);
    this.tell.language = known(remembered() || navigator.language);
    this.at = linked(this.screens.length) ?? 0;
    this.build();
    this.translate();
    addEventListener("hashchange", () => {
      const at = linked(this.screens.length);
      if (at !== null && this.root.isConnected) this.go(at);
    });
  }

  build() {
    this.root.classList.add("cv-lesson");
    mark(this.root, "role", "region");
    const bar = make(this.root, "div", "cv-lesson-bar");
    this.back = press(make(bar, "button", "cvl-pill cvl-turn-back"), () => this.go(this.at - 1));
    this.place = make(bar, "span", "cv-says");
    this.onward = press(make(bar, "button", "cvl-pill cvl-turn-on"), () => this.go(this.at + 1));
    const languages = make(bar, "div", "cvl-languages");
    mark(languages, "role", "group");
    mark(languages, "aria-label", "Language / \u8bed\u8a00");
    this.languages = Object.keys(this.words).map((language) => {
      const button = press(make(languages, "button", "cvl-pill"), () => this.speak(language));
      button.textContent = { en: "English", "zh-CN": "\u4e2d\u6587" }[language];
      button.lang = language;
      return [language, button];
    });
    this.list = make(make(this.root, "nav", "cv-lesson-list"), "ol");
    this.items = this.screens.map((_, at) => {
      const button = press(make(make(this.list, "li"), "button"), () => this.go(at));
      make(button, "b").textContent = String(at + 1);
      return { button, title: make(button, "span") };
    });
    const page = make(this.root, "div", "cv-lesson-page");
    this.title = make(page, "h2");
    this.text = make(page, "div", "cv-lesson-text");
    this.figure = make(this.root, "div", "cvl-figure");
    mark(this.figure, "role", "group");
    this.next = press(make(this.root, "button", "cv-lesson-next"), () => this.go(this.at + 1, true));
    this.aloud = make(this.root, "p", "cv-aloud");
    mark(this.aloud, "role", "status");
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  // The arrow keys turn the page, unless what has the focus needs them itself.
  key(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.defaultPrevented || event.target.closest("input, select, textarea, [role=listbox]")) return;
    event.preventDefault();
    this.go(this.at + move);
  }

  go(at, top = false) {
    if (at < 0 || at >= this.screens.length || at === this.at) return;
    this.at = at;
    remark(at);
    this.draw();
    say(this.aloud, `${this.place.textContent}: ${this.title.textContent}`);
    if (top || this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView({ block: "start" });
    if (top) this.onward.focus({ preventScroll: true });
  }

  speak(language) {
    this.tell.language = language;
    remember(language);
    this.translate();
  }

  translate() {
    const { tell } = this;
    boardSpeaks(tell.language);
    this.root.lang = tell.language;
    mark(this.root, "aria-label", tell("lesson"));
    mark(this.list.parentNode, "aria-label", tell("screens"));
    say(this.back, tell("back"));
    say(this.onward, tell("next"));
    for (const [language, button] of this.languages) mark(button, "aria-pressed", String(language === tell.language));
    this.items.forEach(({ title }, at) => say(title, this.screens[at][tell.language].title));
    this.draw();
  }

  draw() {
    const { at, screens, tell } = this;
    const { title, text } = screens[at][tell.language];
    this.root.dataset.screen = screens[at].key;
    say(this.place, tell("place", { n: at + 1, total: screens.length }));
    say(this.title, title);
    this.text.replaceChildren();
    for (const paragraph of text) make(this.text, "p").textContent = paragraph;
    // Not `disabled`: a button that has the focus would lose it, and with it the arrow keys.
    mark(this.back, "aria-disabled", String(at === 0));
    mark(this.onward, "aria-disabled", String(at === screens.length - 1));
    this.next.hidden = at === screens.length - 1;
    if (!this.next.hidden) say(this.next, tell("go_on", { title: screens[at + 1][tell.language].title }));
    this.items.forEach(({ button }, place) => {
      if (place === at) mark(button, "aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.show(screens[at].picture, title);
  }

  show(name, title) {
    if (this.picture && this.picture.stop) this.picture.stop();
    this.picture = null;
    this.figure.replaceChildren();
    mark(this.figure, "aria-label", this.tell("picture", { title }));
    const state = (this.states[this.at] = this.states[this.at] || {});
    try {
      this.picture = PICTURES[name](this.figure, this.data, this.tell, state);
    } catch (problem) {
      console.error(problem);
      this.figure.replaceChildren();
      make(this.figure, "p", "cvl-problem").textContent = this.tell("problem", { why: problem.message });
    }
  }
}

// `tell` of the whole script is the board's.
function boardSpeaks(language) {
  tell.language = language;
}

function press(button, act) {
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

// The screen that the address names, or null.
function linked(screens) {
  const found = LINK.exec(location.hash);
  const at = found ? Number(found[1]) - 1 : -1;
  return at >= 0 && at < screens ? at : null;
}

// Keeps the screen in the address, unless something else stands there.
function remark(at) {
  if (location.hash && !LINK.test(location.hash)) return;
  history.replaceState(history.state, "", `#lesson-${at + 1}`);
}

function remembered() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function remember(language) {
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {
    // as above: the choice then lasts as long as the page
  }
}
