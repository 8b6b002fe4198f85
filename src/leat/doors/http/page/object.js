// One object, or a member of a shard: what is known of it, and a look inside. A shard shows its
// members, with small pictures.
import {api} from "./api.js";
import {objectHref, pager, shownName, trail} from "./browse.js";
import {empty, failure, h, icon, kindOf, waiting} from "./dom.js";
import * as format from "./format.js";
import {MOST_IMAGE_BYTES, draw, typeOf} from "./image.js";

const MEMBERS = 60;
const MOST_TEXT_BYTES = 16 << 10;
const MOST_HEX_BYTES = 512;
const MOST_TILE_BYTES = 8 << 20;
const SMALL_BYTES = 64 << 10;
const MOST_VALUE_BYTES = 64;  // of what is shown beside a sample, such as its class
const TILES_AT_ONCE = 6;

export function showObject(main, bucket, name, after, signal) {
  const title = name.split("/").at(-1);
  const place = h("div", {}, waiting());
  main.replaceChildren(h("h1", {class: "unseen"}, format.name(title)), trail(bucket, name), place);
  const load = async () => {
    try {
      const headers = await api.head(bucket, name, signal);
      const shard = kindOf(name) === "shard" ? await shardOf(bucket, name, after, signal) : null;
      place.replaceChildren(...(shard ? shardView(bucket, name, after, headers, shard, signal)
        : objectView(bucket, name, headers, signal)));
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) error.title = "There is no such object";
      place.replaceChildren(failure(error, load));
    }
  };
  load();
}

// A tar that nobody could index is an object like any other.
async function shardOf(bucket, name, after, signal) {
  try {
    return await api.shard(bucket, name, {after, limit: MEMBERS}, signal);
  } catch (error) {
    if (error.status >= 400 && error.status < 500 && error.status !== 403) return null;
    throw error;
  }
}

const KNOWN = [
  ["x-leat-size", "Size", (text) => `${format.size(Number(text))} (${format.count(Number(text))} bytes)`],
  ["x-leat-mtime-ns", "Modified", (text) => format.time(Number(text))],
  ["etag", "ETag", (text) => text.replaceAll("\"", "")],
  ["x-leat-crc32c", "CRC32C", String],
  ["x-leat-generation", "Generation", String],
];
const PREFIXES = ["x-leat-header-", "x-leat-meta-", "x-leat-checksum-"];

function details(bucket, name, headers) {
  const rows = KNOWN.filter(([header]) => headers.has(header))
    .map(([header, label, show]) => [label, show(headers.get(header))]);
  for (const [header, value] of headers) {
    const prefix = PREFIXES.find((one) => header.startsWith(one));
    if (prefix) rows.push([header.slice(prefix.length), format.name(value)]);
  }
  const download = h("button", {type: "button"}, "Download");
  download.addEventListener("click", async () => {
    const link = h("a", {href: await api.link(bucket, name), download: format.name(name.split("/").at(-1))});
    document.body.append(link);
    link.click();
    link.remove();
  });
  return h("section", {class: "card details"}, h("h2", {}, "Details"),
    h("dl", {}, rows.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])), download);
}

function objectView(bucket, name, headers, signal) {
  const preview = h("section", {class: "card preview"}, waiting());
  showPreview(preview, bucket, name, Number(headers.get("x-leat-size")), signal);
  return [h("div", {class: "object"}, preview, details(bucket, name, headers))];
}

async function showPreview(place, bucket, name, size, signal) {
  const show = (...nodes) => place.replaceChildren(...nodes);
  try {
    if (size === 0) return show(empty("The object is empty"));
    let bytes = await api.bytes(bucket, name, MOST_TEXT_BYTES, signal);
    if (typeOf(bytes)) {
      if (size > MOST_IMAGE_BYTES) return show(empty("This image is too large for a preview"));
      if (size > bytes.length) bytes = await api.bytes(bucket, name, size, signal);
      const image = await draw(bytes, 1600);
      if (image) {
        image.canvas.setAttribute("role", "img");
        image.canvas.setAttribute("aria-label", format.name(name));
        return show(h("div", {class: "picture"}, image.canvas),
          h("p", {class: "dim"}, `${image.type.slice(6).toUpperCase()}, ${image.width} × ${image.height}`));
      }
    }
    const text = textOf(bytes, size);
    const shown = text === null ? Math.min(MOST_HEX_BYTES, bytes.length) : bytes.length;
    show(h("pre", {class: text === null ? "hex" : "text", tabindex: "0"}, text ?? hexOf(bytes)),
      shown < size && h("p", {class: "dim"}, `The first ${format.size(shown)} of ${format.size(size)}.`));
  } catch (error) {
    if (!signal.aborted) show(failure(error));
  }
}

// Null when the bytes are no text. A character that is cut at the end does not count.
function textOf(bytes, size) {
  try {
    const text = new TextDecoder("utf-8", {fatal: true}).decode(bytes, {stream: bytes.length < size});
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

function hexOf(bytes) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, MOST_HEX_BYTES); at += 16) {
    const row = Array.from(bytes.subarray(at, Math.min(at + 16, MOST_HEX_BYTES)));
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·").join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

function shardView(bucket, name, after, headers, shard, signal) {
  const {members, member_count: count, next_start_after: next} = shard;
  const tiles = samplesOf(members).map((sample) => tile(bucket, name, sample));
  fillWhenSeen(tiles, signal);
  const body = members.length === 0
    ? empty(after ? "That was the end" : "The shard is empty")
    : h("ul", {class: "tiles"}, tiles.map(({element}) => element));
  return [h("div", {class: "object"},
    h("section", {},
      h("div", {class: "above"}, h("h2", {}, format.plural(count, "member")), h("span", {class: "dim"}, format.size(shard.size))),
      body, pager(after && objectHref(bucket, name), next && objectHref(bucket, name, next))),
    details(bucket, name, headers))];
}

// Members that differ only behind the first dot are one sample: 0042.jpg with 0042.cls.
function samplesOf(members) {
  const samples = [];
  for (const member of members) {
    const begin = member.name.lastIndexOf("/") + 1;
    const dot = member.name.indexOf(".", begin + 1);
    const stem = dot < 0 ? member.name : member.name.slice(0, dot);
    if (dot >= 0 && samples.at(-1)?.stem === stem) samples.at(-1).members.push(member);
    else samples.push({stem: dot < 0 ? null : stem, members: [member]});
  }
  return samples;
}

function tile(bucket, shard, {stem, members}) {
  const hrefOf = (member) => objectHref(bucket, `${shard}/${member.name}`);
  const main = members.find((member) => kindOf(member.name) === "image") ?? members[0];
  const picture = h("a", {class: "thumb", href: hrefOf(main), tabindex: "-1", "aria-hidden": "true"}, icon(kindOf(main.name)));
  const parts = members.length === 1 ? [] : members.map((member) => {
    const value = h("span", {class: "value"});
    return {member, value, element: h("a", {class: "part", href: hrefOf(member), title: format.name(member.name)},
      h("bdi", {}, format.name(member.name.slice(stem.length + 1))), value)};
  });
  const caption = members.length === 1
    ? h("a", {class: "caption", href: hrefOf(main)}, shownName(main.name))
    : h("span", {class: "caption"}, shownName(stem));
  const bytes = members.reduce((sum, member) => sum + member.size, 0);
  const element = h("li", {class: "tile"}, picture, caption, h("span", {class: "dim"}, format.size(bytes)),
    parts.length > 0 && h("div", {class: "parts"}, parts.map((part) => part.element)));
  return {element, picture, main, parts, bucket, shard};
}

async function fillTile({picture, main, parts, bucket, shard}, signal) {
  const bytesOf = (member) => api.bytes(bucket, `${shard}/${member.name}`, member.size, signal);
  for (const {member, value} of parts) {
    if (member === main || member.size === 0 || member.size > MOST_VALUE_BYTES) continue;
    const text = textOf(await bytesOf(member), member.size);
    if (text !== null) value.textContent = text.trim();
  }
  const most = kindOf(main.name) === "image" ? MOST_TILE_BYTES : SMALL_BYTES;
  if (main.size === 0 || main.size > most) return;
  const bytes = await bytesOf(main);
  const image = await draw(bytes, 320);
  const text = image ? null : textOf(bytes, bytes.length);
  if (image) picture.replaceChildren(image.canvas);
  else if (text !== null) picture.replaceChildren(h("span", {class: "snippet"}, text.slice(0, 200)));
}

// A few at once, and only what is on the screen.
function fillWhenSeen(tiles, signal) {
  const waitingTiles = [];
  let busy = 0;
  const next = () => {
    if (signal.aborted || busy >= TILES_AT_ONCE || waitingTiles.length === 0) return;
    ++busy;
    fillTile(waitingTiles.shift(), signal).catch(() => { /* the icon stays */ })
      .finally(() => { --busy; next(); });
    next();
  };
  const byElement = new Map(tiles.map((one) => [one.element, one]));
  const observer = new IntersectionObserver((changes) => {
    for (const {isIntersecting, target} of changes) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      waitingTiles.push(byElement.get(target));
    }
    next();
  }, {rootMargin: "200px"});
  for (const {element} of tiles) observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
}
