// Numbers, times and names as people read them.

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function size(bytes) {
  let value = bytes, unit = 0;
  while (value >= 1000 && unit < SIZES.length - 1) { value /= 1024; ++unit; }
  return `${unit === 0 ? value.toFixed(0) : digits(value)} ${SIZES[unit]}`;
}

// Three digits.
function digits(value) {
  if (value === 0) return "0";
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

export function count(number) {
  return Math.round(number).toLocaleString("en-US").replaceAll(",", " ");
}

export function rate(perSecond) {
  if (perSecond < 10) return perSecond === 0 ? "0" : perSecond.toFixed(1);
  return count(perSecond);
}

export function throughput(bytesPerSecond) {
  return bytesPerSecond === 0 ? "0" : `${size(bytesPerSecond)}/s`;
}

export function latency(ns) {
  if (ns === null || ns === undefined) return "–";
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${digits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e9)} s`;
}

export function duration(ns) {
  const seconds = Math.floor(ns / 1e9);
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([length]) => seconds >= length);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).map(([length, unit], i) =>
    `${Math.floor((i === 0 ? seconds : seconds % parts[first][0]) / length)} ${unit}`).join(" ");
}

export function time(ns) {
  if (!ns) return "–";
  const date = new Date(ns / 1e6);
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// Characters that are not seen, or turn the direction of what follows.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

// A percent-encoded name for the eye; what cannot be shown stays percent-encoded.
export function name(encoded) {
  try {
    return decodeURIComponent(encoded).replace(HIDDEN, (hidden) => encodeURIComponent(hidden));
  } catch {
    return encoded.replace(/%([2-7][0-9A-F])/g, (text, code) =>
      code === "7F" ? text : String.fromCharCode(parseInt(code, 16)));
  }
}
