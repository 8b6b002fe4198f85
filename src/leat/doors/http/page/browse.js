// Buckets, and the names in one, as folders.
import {api, encode} from "./api.js";
import {empty, failure, h, icon, kindOf, waiting} from "./dom.js";
import * as format from "./format.js";

const PAGE = 200;

export const bucketHref = (bucket, prefix = "", after = "") =>
  `#/b/${encode(bucket)}/${prefix}${after ? `?after=${after}` : ""}`;
export const objectHref = (bucket, name, after = "") =>
  `#/o/${encode(bucket)}/${name}${after ? `?after=${after}` : ""}`;

// A name that is shown; long ones are cut by the style sheet, so the whole is in the title.
export function shownName(encoded) {
  const text = format.name(encoded);
  return h("bdi", {title: text}, text);
}

// "buckets / photos / train / 0001.tar / cat.jpg"
export function trail(bucket, name) {
  const steps = [h("a", {href: "#/buckets"}, "Buckets")];
  steps.push(name ? h("a", {href: bucketHref(bucket)}, bucket) : h("span", {"aria-current": "page"}, bucket));
  const parts = name.split("/");
  if (parts.at(-1) === "") parts.pop();
  parts.forEach((part, i) => {
    const path = parts.slice(0, i + 1).join("/");
    const label = part === "" ? "(empty)" : shownName(part);
    if (i === parts.length - 1) steps.push(h("span", {"aria-current": "page"}, label));
    else if (kindOf(part) === "shard") steps.push(h("a", {href: objectHref(bucket, path)}, label));
    else steps.push(h("a", {href: bucketHref(bucket, `${path}/`)}, label));
  });
  return h("nav", {class: "trail", "aria-label": "Where this is"}, h("ol", {}, steps.map((step) => h("li", {}, step))));
}

export function showBuckets(main, signal) {
  const place = h("div", {}, waiting());
  main.replaceChildren(h("h1", {}, "Buckets"), place);
  const load = async () => {
    try {
      const buckets = await api.buckets(signal);
      place.replaceChildren(buckets.length === 0 ? noBuckets() : bucketTable(buckets));
    } catch (error) {
      if (!signal.aborted) place.replaceChildren(failure(error, load));
    }
  };
  load();
}

function noBuckets() {
  return empty("There are no buckets yet", "Make one with any S3 client, or on the command line:",
    h("code", {}, `aws --endpoint-url ${location.origin} s3 mb s3://images`));
}

function bucketTable(buckets) {
  return h("section", {class: "card flush"}, h("table", {class: "names"},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Name"), h("th", {scope: "col"}, "Writes are"), h("th", {scope: "col"}, "Made"))),
    h("tbody", {}, buckets.map((bucket) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: bucketHref(bucket.name)}, icon("bucket"), h("bdi", {}, bucket.name))),
      h("td", {}, bucket.durability === "disk" ? "on disk when acknowledged" : "in memory when acknowledged"),
      h("td", {}, format.time(bucket.created_ns)))))));
}

// `prefix` and `after` are percent-encoded.
export function showBucket(main, bucket, prefix, after, signal) {
  const place = h("div", {}, waiting());
  // Up to the last '/' it is a folder; the rest is what names there are to begin with.
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const begin = prefix.slice(folder.length);
  const input = h("input", {id: "begin", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Names that begin with …", "aria-label": "Names that begin with"});
  input.value = format.name(begin);
  const filter = h("form", {class: "filter", role: "search"}, input, h("button", {type: "submit"}, "Show"));
  filter.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = bucketHref(bucket, folder + encode(input.value).replaceAll("%2F", "/"));
  });
  main.replaceChildren(h("h1", {class: "unseen"}, bucket), trail(bucket, folder), filter, place);
  const load = async () => {
    try {
      const {page, missing} = await listReachable(bucket, {prefix, after, limit: PAGE}, signal);
      place.replaceChildren(...(missing ? [failure(missing)] : []), ...listing(bucket, prefix, folder, after, page));
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) error.title = "There is nothing here";
      place.replaceChildren(failure(error, load));
    }
  };
  load();
}

// What is there, and why not everything is.
async function listReachable(bucket, request, signal) {
  try {
    return {page: await api.list(bucket, request, signal), missing: null};
  } catch (error) {
    if (error.status !== 503) throw error;
    const page = await api.list(bucket, {...request, reachable: true}, signal);
    error.title = "Not everything can be listed";
    return {page, missing: error};
  }
}

function listing(bucket, prefix, folder, after, page) {
  const {entries, common_prefixes: folders, next_start_after: next} = page;
  if (entries.length + folders.length === 0) {
    if (after) return [empty("That was the end"), pager(bucketHref(bucket, prefix), "")];
    return [prefix && prefix !== folder
      ? empty("No name begins like this", "Names are compared letter by letter, capitals too.")
      : empty("Nothing is here yet", "Put something with any S3 client, or on the command line:",
        h("code", {}, `aws --endpoint-url ${location.origin} s3 cp FILE s3://${bucket}/`))];
  }
  const label = (encoded) => shownName(encoded.slice(folder.length) || encoded);
  const rows = [
    ...folders.map((path) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: bucketHref(bucket, path)}, icon("folder"), label(path))),
      h("td", {}, ""), h("td", {}, ""))),
    ...entries.map((entry) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: objectHref(bucket, entry.name)}, icon(kindOf(entry.name)), label(entry.name))),
      h("td", {title: `${entry.size} bytes`}, format.size(entry.size)),
      h("td", {}, format.time(entry.mtime_ns)))),
  ];
  return [
    h("section", {class: "card flush"}, h("table", {class: "names"},
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Name"), h("th", {scope: "col"}, "Size"), h("th", {scope: "col"}, "Modified"))),
      h("tbody", {}, rows))),
    pager(after && bucketHref(bucket, prefix), next && bucketHref(bucket, prefix, next)),
  ];
}

export function pager(first, next) {
  if (!first && !next) return h("span", {});
  return h("nav", {class: "pager", "aria-label": "Pages"},
    first ? h("a", {class: "button", href: first}, "First page") : h("span", {}),
    next ? h("a", {class: "button", href: next, rel: "next"}, "Next page") : h("span", {}));
}
