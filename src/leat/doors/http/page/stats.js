// From what a server counted since it was started to what it does now: the difference of two
// answers of /leat/v1/stats.

const keyOf = (operation) => `${operation.api} ${operation.operation}`;

// The value that `percent` percent do not exceed, of [[up to, count], …]; null without any.
export function percentile(histogram, percent) {
  const total = histogram.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * percent / 100));
  for (const [upTo, count] of histogram) {
    left -= count;
    if (left <= 0) return upTo;
  }
  return null;
}

function difference(after, before) {
  const known = new Map(before ?? []);
  return after.map(([upTo, count]) => [upTo, count - (known.get(upTo) ?? 0)])
    .filter(([, count]) => count > 0);
}

function merge(histograms) {
  const merged = new Map();
  for (const [upTo, count] of histograms.flat()) merged.set(upTo, (merged.get(upTo) ?? 0) + count);
  return [...merged].sort(([a], [b]) => a - b);
}

function rates(operation, before, seconds) {
  const histogram = difference(operation.latency_ns.histogram, before?.latency_ns.histogram);
  const per = (field) => (operation[field] - (before?.[field] ?? 0)) / seconds;
  return {
    api: operation.api,
    name: operation.operation,
    total: operation.count,
    failed: operation.client_errors + operation.server_errors,
    serverErrors: operation.server_errors,
    inProgress: operation.in_progress,
    requests: per("count"),
    bytes: per("bytes"),
    errors: per("client_errors") + per("server_errors"),
    histogram,
    p50: percentile(histogram, 50),
    p99: percentile(histogram, 99),
  };
}

// Null when there is nothing to compare: the server was started anew.
export function figuresBetween(before, after) {
  const seconds = (after.uptime_ns - before.uptime_ns) / 1e9;
  if (!(seconds > 0)) return null;
  const earlier = new Map(before.operations.map((operation) => [keyOf(operation), operation]));
  const operations = after.operations.map((operation) =>
    rates(operation, earlier.get(keyOf(operation)), seconds));
  // Asking for these figures is not what the server is there for.
  const work = operations.filter(({api, name}) => !(api === "native" && name === "stats"));
  const sum = (field) => work.reduce((total, operation) => total + operation[field], 0);
  const histogram = merge(work.map((operation) => operation.histogram));
  return {
    operations,
    requests: sum("requests"),
    bytes: sum("bytes"),
    errors: sum("errors"),
    inProgress: sum("inProgress"),
    p50: percentile(histogram, 50),
    p99: percentile(histogram, 99),
  };
}

// Everything that somebody should look after, worst first.
export function faultsOf(stats) {
  const faults = [];
  for (const drive of stats.drives) {
    const label = drive.directory || drive.id;
    if (drive.missing) faults.push({kind: "bad", what: `Drive ${label} is missing`, advice: "Its objects cannot be read until it is back."});
    if (drive.draining) faults.push({kind: "warn", what: `Drive ${label} is being emptied`, advice: "It takes no new objects."});
    if (!drive.missing && drive.available_bytes < drive.total_bytes / 20) {
      faults.push({kind: "warn", what: `Drive ${label} is nearly full`, advice: "Add one with leat drive add."});
    }
  }
  for (const damaged of stats.scrub.damaged) {
    faults.push({kind: damaged.repaired ? "warn" : "bad",
      what: `${damaged.name || "A record"} is damaged${damaged.repaired ? ", and was repaired" : ""}`, advice: damaged.what});
  }
  const unnamed = stats.scrub.damaged_count - stats.scrub.damaged.length;
  if (unnamed > 0) faults.push({kind: "bad", what: `${unnamed} more objects are damaged`, advice: "leat verify names them."});
  for (const operation of stats.operations) {
    if (operation.server_errors > 0) {
      faults.push({kind: "warn", what: `${operation.server_errors} × ${operation.operation} failed with a server error`, advice: "Since the server was started."});
    }
  }
  if (stats.connections.refused > 0) {
    faults.push({kind: "warn", what: `${stats.connections.refused} connections were refused`, advice: "More came than the server is set to take."});
  }
  if (stats.draining) faults.push({kind: "warn", what: "The server is about to stop", advice: "Requests under way are let end."});
  return faults.sort((a, b) => (a.kind === "bad" ? 0 : 1) - (b.kind === "bad" ? 0 : 1));
}
