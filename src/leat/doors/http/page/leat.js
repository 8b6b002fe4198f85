// The page: who is looking, which view is shown, and how the server is.
import {ApiError, api, canSign} from "./api.js";
import {showBucket, showBuckets} from "./browse.js";
import {failure, h, sentence, waiting} from "./dom.js";
import * as format from "./format.js";
import {Feed, showLive} from "./live.js";
import {showObject} from "./object.js";

const main = document.getElementById("main");
const feed = new Feed();
let endView = () => {};

// "#/b/photos/train/?after=x" -> {view: "b", bucket: "photos", name: "train/", after: "x"}; what is
// percent-encoded stays so, but for the bucket.
function route() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  const [, view = "", bucket = "", ...rest] = path.split("/");
  const after = query.startsWith("after=") ? query.slice(6) : "";
  try {
    return {view, bucket: decodeURIComponent(bucket), name: rest.join("/"), after};
  } catch {
    return {view: "unknown"};
  }
}

function show() {
  endView();
  const ending = new AbortController();
  const {view, bucket, name, after} = route();
  const place = {b: "buckets", o: "buckets", buckets: "buckets", "": "live"}[view];
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === place) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  let stopListening = () => {};
  if (view === "") stopListening = showLive(main, feed);
  else if (view === "buckets") showBuckets(main, ending.signal);
  else if (view === "b" && bucket) showBucket(main, bucket, name, after, ending.signal);
  else if (view === "o" && bucket && name) showObject(main, bucket, name, after, ending.signal);
  else main.replaceChildren(failure({title: "There is no such page", message: "The address leads nowhere."}));
  endView = () => { ending.abort(); stopListening(); };
  document.title = bucket ? `${format.name(name) || bucket} – Leat` : view === "buckets" ? "Buckets – Leat" : "Leat";
  window.scrollTo(0, 0);
}

function showState() {
  const state = document.getElementById("state");
  const lost = feed.error && !feed.error.needsKey;
  state.textContent = lost ? "no answer" : location.host;
  state.className = `state ${lost ? "bad" : "good"}`;
}

function enter() {
  document.getElementById("nav").hidden = false;
  document.getElementById("leave").hidden = !api.keyId;
  document.getElementById("key").textContent = api.keyId || "anonymous";
  showState();
  feed.start();
  show();
}

function leave(error) {
  endView();
  feed.stop();
  api.forget();
  document.getElementById("nav").hidden = true;
  document.getElementById("leave").hidden = true;
  document.getElementById("key").textContent = "";
  showSignIn(error);
}

// What `leat keys env` prints, or a line of `leat keys add`, in either field.
function keysIn(text) {
  const id = /AWS_ACCESS_KEY_ID=(\S+)/.exec(text), secret = /AWS_SECRET_ACCESS_KEY=(\S+)/.exec(text);
  if (id && secret) return [id[1], secret[1]];
  const words = text.trim().split(/\s+/);
  return words.length === 2 ? words : null;
}

function showSignIn(error) {
  const id = h("input", {id: "id", name: "username", autocomplete: "username", spellcheck: "false", required: true});
  const secret = h("input", {id: "secret", name: "password", type: "password", autocomplete: "current-password", required: true});
  const problem = h("div", {}, error && failure({title: "The server did not accept this", message: error.message}));
  const button = h("button", {type: "submit", class: "main"}, "Sign in");
  const form = h("form", {class: "card signin"},
    h("h1", {}, "Sign in"),
    h("p", {}, "This server wants a key. On its machine, ", h("code", {}, "leat keys env"), " shows one; paste all of it, or each part."),
    h("label", {for: "id"}, "Access key"), id, h("label", {for: "secret"}, "Secret"), secret, problem, button,
    h("p", {class: "dim"}, "The secret stays in this tab: it signs requests, is never sent, and is forgotten when the tab is closed."));
  form.addEventListener("paste", (event) => {
    const keys = keysIn(event.clipboardData.getData("text"));
    if (!keys) return;
    event.preventDefault();
    [id.value, secret.value] = keys;
    button.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    api.use(id.value.trim(), secret.value.trim());
    try {
      await api.buckets();
      enter();
    } catch (reason) {
      api.forget();
      button.disabled = false;
      problem.replaceChildren(failure({title: "That did not work", message: reason.message}));
    }
  });
  main.replaceChildren(canSign() ? form : insecure(error));
  document.getElementById("state").textContent = location.host;
  if (canSign()) id.focus();
}

function insecure(error) {
  return h("div", {class: "card signin", role: "alert"},
    h("h1", {}, "Signing in needs a safe connection"),
    h("p", {}, "This server wants a key, and a browser lets a page sign with one only over https or on the machine itself: anybody on the way here could have changed this page."),
    error && h("p", {}, sentence(error.message), " Names are given to it with ", h("code", {}, "--domain"), "."),
    h("p", {}, "Serve with ", h("code", {}, "--tls-certificate"), ", or bring the port to your machine:"),
    h("pre", {}, `ssh -L 9000:127.0.0.1:${location.port || 80} ${location.hostname}`),
    h("p", {}, "and open ", h("code", {}, "http://127.0.0.1:9000/leat"), ". A server with ", h("code", {}, "--anonymous read"), " shows itself to everyone."));
}

// Reads as the key that is kept, as nobody where that is allowed, or asks for a key.
async function begin() {
  main.replaceChildren(waiting());
  try {
    await api.health();
  } catch {
    const error = new ApiError(0, "Is it running? The page tries again when you ask it to.");
    error.title = "The server does not answer";
    main.replaceChildren(failure(error, begin));
    return;
  }
  try {
    await api.buckets();
    enter();
  } catch (error) {
    // Without a key this is the first answer of most servers, and no complaint.
    if (error.needsKey) leave(error.message === "this needs a key" ? null : error);
    else main.replaceChildren(failure(error, begin));
  }
}

document.getElementById("leave").addEventListener("click", () => leave(null));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  if (document.getElementById("nav").hidden) return;
  show();
  main.focus({preventScroll: true});
});
feed.listen(showState);
begin();
