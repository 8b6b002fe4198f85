// The native API, as the key that was given, or as nobody.
//
// A request is signed as S3's are (AWS Signature Version 4), so the secret never leaves the browser.
// It is kept for this tab only, and forgotten with it.

const PLACE = "leat.key";
const REGION = "us-east-1";
const UNSIGNED = "UNSIGNED-PAYLOAD";

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
  get needsKey() { return this.status === 403; }
}

// Text as it stands in a path or a query.
export function encode(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) =>
    `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

// The API writes '/' in names as it is; in a query it is encoded.
const inQuery = (encodedName) => encodedName.replaceAll("/", "%2F");

const utf8 = new TextEncoder();
const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) =>
  byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (text) => toHex(await crypto.subtle.digest("SHA-256", utf8.encode(text)));
async function hmac(key, text) {
  const imported = await crypto.subtle.importKey("raw", key, {name: "HMAC", hash: "SHA-256"}, false,
    ["sign"]);
  return crypto.subtle.sign("HMAC", imported, utf8.encode(text));
}

// Browsers have no cryptography for pages that anybody on the way could have changed.
export const canSign = () => Boolean(globalThis.isSecureContext && globalThis.crypto?.subtle);

class Api {
  #key = null;  // {id, secret}
  #signing = {day: "", key: null};
  #clockSkewMs = 0;

  constructor() {
    try {
      this.#key = JSON.parse(sessionStorage.getItem(PLACE));
    } catch { /* nothing is kept here, or nothing of ours */ }
  }

  get keyId() { return this.#key?.id ?? ""; }
  use(id, secret) {
    this.#key = {id, secret};
    this.#signing.day = "";
    try { sessionStorage.setItem(PLACE, JSON.stringify(this.#key)); } catch { /* until reloaded */ }
  }
  forget() {
    this.#key = null;
    this.#signing.day = "";
    try { sessionStorage.removeItem(PLACE); } catch { /* was not kept */ }
  }

  async health() {
    const response = await fetch("/leat/v1/health", {cache: "no-store"});
    const theirs = Date.parse(response.headers.get("date"));
    if (!Number.isNaN(theirs)) this.#clockSkewMs = theirs - Date.now();
    return response.json();
  }

  // `query`: [[name, encoded value], …]
  async #ask(method, path, query, signal) {
    // A browser would take these out of the path, and ask for something else.
    if (path.split("/").some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
      throw new ApiError(0, "A browser cannot ask for a name with a part that is “.” or “..”. " +
        "On the command line, leat get can.");
    }
    const text = query.map(([name, value]) => `${name}=${value}`).sort().join("&");
    const headers = this.#key ? await this.#sign(method, path, text) : {};
    let response;
    try {
      response = await fetch(text ? `${path}?${text}` : path, {method, headers, signal, cache: "no-store"});
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "The server does not answer.");
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  #now() {
    const stamp = new Date(Date.now() + this.#clockSkewMs).toISOString();
    return `${stamp.slice(0, 19).replace(/[-:]/g, "")}Z`;
  }

  async #signature(stamp, canonical) {
    const day = stamp.slice(0, 8);
    if (this.#signing.day !== day) {
      let key = utf8.encode(`AWS4${this.#key.secret}`);
      for (const part of [day, REGION, "s3", "aws4_request"]) key = await hmac(key, part);
      this.#signing = {day, key};
    }
    const scope = `${day}/${REGION}/s3/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${await sha256(canonical)}`;
    return {scope, signature: toHex(await hmac(this.#signing.key, text))};
  }

  async #sign(method, path, query) {
    if (!canSign()) throw new ApiError(0, "This browser does not let the page sign.");
    const stamp = this.#now();
    const names = "host;x-amz-content-sha256;x-amz-date";
    const {scope, signature} = await this.#signature(stamp, `${method}\n${path}\n${query}\n` +
      `host:${location.host}\nx-amz-content-sha256:${UNSIGNED}\nx-amz-date:${stamp}\n\n` +
      `${names}\n${UNSIGNED}`);
    return {
      "x-amz-date": stamp,
      "x-amz-content-sha256": UNSIGNED,
      "authorization": `AWS4-HMAC-SHA256 Credential=${this.#key.id}/${scope}, ` +
        `SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  async #json(path, query, signal) {
    return (await this.#ask("GET", path, query, signal)).json();
  }

  stats(signal) { return this.#json("/leat/v1/stats", [["histograms", "1"]], signal); }
  async buckets(signal) { return (await this.#json("/leat/v1/buckets", [], signal)).buckets; }

  // Names, prefixes and where to go on are percent-encoded, here and in the answers.
  // `reachable`: without what lies on drives that are missing.
  list(bucket, {prefix = "", after = "", limit, reachable = false}, signal) {
    const query = [["delimiter", "%2F"], ["limit", String(limit)]];
    if (reachable) query.push(["reachable", "1"]);
    if (prefix) query.push(["prefix", inQuery(prefix)]);
    if (after) query.push(["start_after", inQuery(after)]);
    return this.#json(`/leat/v1/list/${encode(bucket)}`, query, signal);
  }
  shard(bucket, name, {after = "", limit}, signal) {
    const query = [["limit", String(limit)]];
    if (after) query.push(["start_after", inQuery(after)]);
    return this.#json(`/leat/v1/shards/${encode(bucket)}/${name}`, query, signal);
  }
  async head(bucket, name, signal) {
    try {
      return (await this.#ask("HEAD", objectPath(bucket, name), [], signal)).headers;
    } catch (error) {
      // Such an answer has no words; that to a GET has.
      if (error.status > 0) await this.bytes(bucket, name, 0, signal);
      throw error;
    }
  }
  async bytes(bucket, name, length, signal) {
    const response = await this.#ask("GET", objectPath(bucket, name), [["length", String(length)]], signal);
    return new Uint8Array(await response.arrayBuffer());
  }

  // An address that works for an hour, without the key.
  async link(bucket, name) {
    const path = objectPath(bucket, name);
    if (!this.#key) return path;
    const stamp = this.#now();
    const credential = encode(`${this.#key.id}/${stamp.slice(0, 8)}/${REGION}/s3/aws4_request`);
    const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}` +
      `&X-Amz-Date=${stamp}&X-Amz-Expires=3600&X-Amz-SignedHeaders=host`;
    const {signature} = await this.#signature(stamp,
      `GET\n${path}\n${query}\nhost:${location.host}\n\nhost\n${UNSIGNED}`);
    return `${path}?${query}&X-Amz-Signature=${signature}`;
  }
}

const objectPath = (bucket, name) => `/leat/v1/objects/${encode(bucket)}/${name}`;

async function errorOf(response) {
  let message = response.headers.get("x-leat-error") ?? `The server answered ${response.status}.`;
  try {
    message = (await response.json()).error.message;
  } catch { /* HEAD has no body */ }
  return new ApiError(response.status, message);
}

export const api = new Api();
