// The words above a figure, with the choice of its part, and the table below it. Both get one JSON text and write it
// as text only.

const TABLE_ROWS = 300; // that a page shows; the CSV has all

// Which run, which part of it, what the chart shows, and the same as the figure's name for those who do not see it.
class ChartWords {
  constructor(root, panel, figure, choose) {
    this.figure = figure;
    this.root = chartPart(root, "div", "cv-chart-words");
    const top = chartPart(this.root, "div", "cv-chart-top");
    this.run = chartPart(top, "p", "cv-chart-run");
    this.choice = chartPart(top, "div", "cv-chart-part");
    this.unit = chartPart(this.choice, "label");
    this.part = chartPart(this.choice, "select");
    this.part.id = this.unit.htmlFor = `${panel.slice(1)}-select`;
    this.part.addEventListener("change", () => choose(Number(this.part.value)));
    this.says = chartPart(this.root, "p", "cv-chart-says");
    this.says.setAttribute("role", "status");
    // The figure may appear after its words, and again as a new element.
    new MutationObserver(() => this.name()).observe(document.querySelector(panel), { childList: true, subtree: true });
  }

  show(text) {
    const { run, says, unit, parts, part } = text ? JSON.parse(text) : { run: [], says: "", unit: "", parts: [] };
    this.run.textContent = run.map(tell.text).join(tell(", "));
    this.says.textContent = tell.text(says);
    this.choice.hidden = parts.length < 2;
    this.unit.textContent = tell.text(unit);
    this.part.replaceChildren();
    for (const [label, value] of parts) {
      const option = chartPart(this.part, "option");
      option.textContent = tell.text(label);
      option.value = String(value);
      option.selected = value === part;
    }
    this.name();
  }

  name() {
    const figure = document.querySelector(this.figure);
    const says = this.says.textContent;
    if (!figure || figure.getAttribute("aria-label") === says) return;
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", says);
  }
}

// The numbers of the figure: a table that is built when it is first opened, and its CSV as a download.
class ChartTable {
  constructor(root) {
    this.root = chartPart(root, "div", "cv-chart-numbers");
    this.details = chartPart(this.root, "details", "cv-chart-details");
    this.summary = chartPart(this.details, "summary");
    this.details.addEventListener("toggle", () => this.fill());
    this.save = chartPart(this.root, "button", "cv-chart-save");
    this.save.type = "button";
    this.save.textContent = tell("Download CSV");
    this.save.addEventListener("click", () => this.download());
    this.show("");
  }

  show(text) {
    this.table = text ? JSON.parse(text) : null;
    this.root.hidden = !this.table;
    while (this.summary.nextSibling) this.summary.nextSibling.remove();
    if (!this.table) return;
    const { rows } = this.table;
    this.summary.textContent = tell("Numbers ({n} row) | Numbers ({n} rows)", { n: rows.length });
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.table || this.summary.nextSibling) return;
    const { columns, rows, name } = this.table;
    const box = chartPart(this.details, "div", "cv-chart-box");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    const of = name.map(tell.text).join(tell(", "));
    box.setAttribute("aria-label", tell("Numbers of the chart: {name}", { name: of }));
    const table = chartPart(box, "table");
    const head = chartPart(chartPart(table, "thead"), "tr");
    columns.forEach((column, at) => {
      const cell = chartPart(head, "th", chartKind(rows[0][at]));
      cell.scope = "col";
      cell.textContent = tell.text(column);
    });
    const body = chartPart(table, "tbody");
    for (const row of rows.slice(0, TABLE_ROWS)) {
      const line = chartPart(body, "tr");
      row.forEach((value, at) => {
        const cell = chartPart(line, "td", chartKind(value));
        const ours = typeof value === "string" && columns[at] !== "token"; // a token is the model's own
        cell.textContent = ours ? tell.text(value) : chartValue(value);
      });
    }
    if (rows.length <= TABLE_ROWS) return;
    const more = chartPart(this.details, "p", "cv-chart-more");
    const values = { shown: TABLE_ROWS, total: rows.length };
    more.textContent = tell("The first {shown} of {total} rows; the CSV has all of them.", values);
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.table.csv], { type: "text/csv;charset=utf-8" }));
    link.download = this.table.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

// Tells when the page changes between light and dark: a figure is made for one of them.
function onTheme(act) {
  let dark = document.body.classList.contains("dark");
  new MutationObserver(() => {
    if (dark === document.body.classList.contains("dark")) return;
    dark = !dark;
    act(dark);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

function chartKind(value) {
  return typeof value === "string" ? "cv-chart-text" : "";
}

function chartValue(value) {
  if (value === null) return "";
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}

function chartPart(parent, tag, name) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  return parent.appendChild(node);
}
