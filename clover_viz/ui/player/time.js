// The time of recordings, without a page: which records have arrived when, on an axis of passes or of milliseconds.
// A recording is {title, mode, records, ms} (clover_viz/ui/player/recording.py says what they hold).
const AXES = {
  passes: { label: "Passes", rate: 4 }, // rate: units of the axis in a second at speed 1
  ms: { label: "Milliseconds", rate: 1000 },
};
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8]; // the small model's passes take a few milliseconds each
const LONGEST = 250; // milliseconds that one look at the clock may bring: a page that slept does not leap ahead

// Where the time of an axis has come to after some milliseconds of playing.
function advance(time, elapsed, axis, speed) {
  return time + (Math.min(Math.max(elapsed, 0), LONGEST) / 1000) * AXES[axis].rate * speed;
}

// One recording. By record: `times`, the passes after prefill and the milliseconds of all passes up to and with it;
// `kinds`, the pass it tells of ("" for none).
class Timeline {
  constructor({ records, ms }) {
    const fold = new Fold();
    this.times = { passes: [], ms: [] };
    this.kinds = [];
    let [passes, sum] = [0, 0];
    records.forEach((record, at) => {
      const before = { ...fold.passes };
      fold.add(record);
      const kind = record.k === "end" ? "" : Object.keys(before).find((name) => fold.passes[name] > before[name]) || "";
      passes += kind && kind !== "prefill" ? 1 : 0;
      sum += (ms ? ms[at] : record.ms) || 0;
      this.kinds.push(kind);
      this.times.passes.push(passes);
      this.times.ms.push(sum);
    });
    this.passes = fold.passes;
    this.tokens = fold.tokens;
  }

  get length() {
    return this.kinds.length;
  }

  // The time at which the last of the first `length` records arrives; 0 before the first.
  time(axis, length) {
    return length ? this.times[axis][length - 1] : 0;
  }

  // How many records have arrived at a time.
  at(axis, time) {
    return upTo(this.times[axis], time);
  }
}

// One or two recordings on one axis. A position is a stop of it: of one recording the number of its records shown, of
// two the number of moments, among all at which a record of either arrives, that have come.
class Track {
  constructor(lines, axis) {
    Object.assign(this, { lines, axis });
    const all = lines.flatMap((line) => line.times[axis]);
    this.times = lines.length > 1 ? [...new Set(all)].sort((a, b) => a - b) : all;
  }

  get length() {
    return this.times.length;
  }

  get end() {
    return this.time(this.length);
  }

  time(position) {
    return position ? this.times[position - 1] : 0;
  }

  // How many records of each recording are shown at a position.
  prefixes(position) {
    if (this.lines.length === 1) return [position];
    return this.lines.map((line) => (position ? line.at(this.axis, this.time(position)) : 0));
  }

  // The last position whose time has come. The beginning of the axis is before everything.
  find(time) {
    return time <= 0 ? 0 : upTo(this.times, time);
  }

  // The same place on another axis; of two recordings the first that still goes on says where that is.
  moved(position, axis) {
    const track = new Track(this.lines, axis);
    if (this.lines.length < 2 || !position) return [track, position];
    const prefixes = this.prefixes(position);
    const going = this.lines.findIndex((line, at) => prefixes[at] < line.length);
    if (going < 0) return [track, track.length];
    return [track, upTo(track.times, this.lines[going].time(axis, prefixes[going]))];
  }
}

// How many of the rising numbers are at most `limit`.
function upTo(numbers, limit) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
