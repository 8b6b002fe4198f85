// The live view: what the server does this second, and how its drives are.
import {api} from "./api.js";
import {empty, failure, h, waiting} from "./dom.js";
import * as format from "./format.js";
import {Plot} from "./plot.js";
import {faultsOf, figuresBetween} from "./stats.js";

const HISTORY = 120;
const INTERVAL_MS = 1000;

// Asks once a second, whatever is shown, so that a plot has a past when it is looked at; not while
// nobody sees the page.
export class Feed {
  #listeners = new Set();
  #timer = 0;
  #running = false;
  stats = null;
  figures = null;
  error = null;
  history = [];

  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start() {
    if (this.#running) return;
    this.#running = true;
    document.addEventListener("visibilitychange", this.#wake);
    this.#tick();
  }
  stop() {
    this.#running = false;
    document.removeEventListener("visibilitychange", this.#wake);
    clearTimeout(this.#timer);
    Object.assign(this, {stats: null, figures: null, error: null, history: []});
  }

  #wake = () => {
    if (document.hidden) return;
    clearTimeout(this.#timer);
    this.#tick();
  };

  #tick = async () => {
    if (!this.#running || document.hidden) return;
    const begin = performance.now();
    try {
      const stats = await api.stats();
      if (!this.#running) return;
      this.#take(stats);
    } catch (error) {
      if (!this.#running) return;
      this.error = error;
    }
    for (const listener of this.#listeners) listener();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#tick, Math.max(100, INTERVAL_MS - (performance.now() - begin)));
  };

  #take(stats) {
    this.error = null;
    const figures = this.stats && figuresBetween(this.stats, stats);
    this.stats = stats;
    if (!figures) return;
    this.figures = figures;
    const {requests, bytes, errors, p50, p99} = figures;
    this.history.push({requests, bytes, errors, p50, p99});
    if (this.history.length > HISTORY) this.history.shift();
  }
}

const fact = (label, value, tone) =>
  h("div", {class: `fact ${tone ?? ""}`}, h("dt", {}, label), h("dd", {}, value));

function facts({stats, figures}) {
  const shown = figures ?? {inProgress: 0, errors: 0};
  return [
    fact("Connections", format.count(stats.connections.open)),
    fact("In progress", format.count(shown.inProgress)),
    fact("Errors per second", format.rate(shown.errors), shown.errors > 0 ? "warn" : ""),
    fact("Requests so far", format.count(stats.requests)),
    fact("Up for", format.duration(stats.uptime_ns)),
  ];
}

function operationRows({operations}) {
  const sorted = [...operations].sort((a, b) => b.total - a.total || a.name.localeCompare(b.name));
  return sorted.map((one) => h("tr", {class: one.requests > 0 ? "" : "still"},
    h("th", {scope: "row"}, one.name, h("small", {}, one.api)),
    h("td", {}, format.rate(one.requests)),
    h("td", {}, format.throughput(one.bytes)),
    h("td", {}, format.latency(one.p50)),
    h("td", {}, format.latency(one.p99)),
    h("td", {class: one.errors > 0 ? "warn" : ""}, format.count(one.failed)),
    h("td", {}, format.count(one.total))));
}

const OPERATION_COLUMNS = ["Operation", "Requests/s", "Bytes/s", "p50", "p99", "Failed", "Total"];

function driveCard(drive) {
  const used = drive.total_bytes - drive.available_bytes;
  const part = drive.total_bytes > 0 ? used / drive.total_bytes : 0;
  const state = drive.missing ? "missing" : drive.draining ? "being emptied" : "in use";
  const fill = h("span", {class: part > 0.95 ? "fill full" : "fill"});
  fill.style.width = `${(part * 100).toFixed(1)}%`;
  return h("li", {class: "drive"},
    h("div", {class: "drive-head"},
      h("b", {title: drive.id}, drive.directory || drive.id),
      h("span", {class: `tag ${drive.missing ? "bad" : drive.draining ? "warn" : "good"}`}, state)),
    !drive.missing && h("div", {class: "capacity", role: "img", "aria-label": `${(part * 100).toFixed(0)} % full`}, fill),
    !drive.missing && h("p", {}, `${format.size(drive.available_bytes)} free of ${format.size(drive.total_bytes)} · `,
      `${format.plural(drive.objects, "object")}, ${format.size(drive.pack_bytes)} in packs`,
      drive.dead_bytes > 0 && `, ${format.size(drive.dead_bytes)} to be compacted`));
}

function faultList(stats) {
  const faults = faultsOf(stats);
  if (faults.length === 0) return h("p", {class: "fine"}, "Nothing is wrong.");
  return h("ul", {class: "faults"}, faults.map(({kind, what, advice}) =>
    h("li", {class: kind}, h("b", {}, what), h("span", {}, advice))));
}

function scrubText({scrub}) {
  if (scrub.rounds === 0) return "The scrub has not come to the end of its first round.";
  return `The scrub read everything ${format.plural(scrub.rounds, "time")}, last at ${format.time(scrub.ended_ns)}: ` +
    `${format.plural(scrub.objects, "object")}, ${format.size(scrub.bytes)}, ${scrub.damaged_count} damaged.`;
}

// Fills `main`; returns what ends it.
export function showLive(main, feed) {
  const plots = [
    new Plot("Requests per second", HISTORY, format.rate, [{pick: (point) => point.requests}]),
    new Plot("Throughput", HISTORY, format.throughput, [{pick: (point) => point.bytes}], 1024),
    new Plot("Latency", HISTORY, format.latency,
      [{label: "p50", pick: (point) => point.p50}, {label: "p99", pick: (point) => point.p99}]),
  ];
  const problem = h("div", {});
  const factList = h("dl", {class: "facts"});
  const rows = h("tbody", {});
  const drives = h("ul", {class: "drives"});
  const faults = h("div", {});
  const scrub = h("p", {class: "dim"});
  const body = h("div", {class: "live", hidden: true},
    h("div", {class: "plots"}, plots.map(({element}) => element)),
    factList,
    h("section", {class: "card"}, h("h2", {}, "Operations"),
      h("div", {class: "scroll"}, h("table", {class: "numbers"},
        h("thead", {}, h("tr", {}, OPERATION_COLUMNS.map((label) => h("th", {scope: "col"}, label)))), rows)),
      h("p", {class: "dim"}, "The plots leave out stats, which is this page asking.")),
    h("div", {class: "two"},
      h("section", {class: "card"}, h("h2", {}, "Drives"), drives),
      h("section", {class: "card"}, h("h2", {}, "Faults"), faults, scrub)));
  const loading = waiting();
  main.replaceChildren(h("h1", {}, "Live"), problem, loading, body);

  let rested = "";
  const update = () => {
    if (feed.error) {
      const denied = feed.error.needsKey;
      loading.remove();
      problem.replaceChildren(denied && !feed.stats
        ? empty("This key may not see the figures", "They are for keys that may read every bucket. What this key may read is under Buckets.")
        : failure(feed.error));
    }
    if (!feed.stats) return;
    loading.remove();
    if (!feed.error) problem.replaceChildren();
    body.hidden = false;
    for (const plot of plots) plot.update(feed.history);
    factList.replaceChildren(...facts(feed));
    if (feed.figures) rows.replaceChildren(...operationRows(feed.figures));
    // What hardly ever changes is left alone, with what was selected in it.
    const now = JSON.stringify([feed.stats.drives, feed.stats.scrub, faultsOf(feed.stats)]);
    if (now === rested) return;
    rested = now;
    drives.replaceChildren(...feed.stats.drives.map(driveCard));
    faults.replaceChildren(faultList(feed.stats));
    scrub.textContent = scrubText(feed.stats);
  };
  update();
  return feed.listen(update);
}
