// Small helpers over elements and numbers.

function meter({ value, rest }, number, words) {
  say(value, number === null ? "\u2013" : number);
  say(rest, words);
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(numbers.length, 1);
}

function range(numbers) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low === high ? String(low) : `${low}\u2013${high}`;
}

function make(parent, tag, name) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  return parent.appendChild(node);
}

function drawn(parent, tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return parent.appendChild(node);
}

function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function mark(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
