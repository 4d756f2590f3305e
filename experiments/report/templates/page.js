// The page's behaviour: theme, filters and order of the tasks, and trajectories on demand.
// Texts come from models. They enter the document as text nodes and attributes only; there is no markup to read and nothing to run.
"use strict";
(() => {
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** An element; null children are left out. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick" || name === "onkeydown" || name === "onchange") made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

// Theme
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  find("#theme").textContent = theme === "dark" ? "Light" : "Dark";
  document.dispatchEvent(new Event("themechange"));
}
const darkness = matchMedia("(prefers-color-scheme: dark)");
darkness.addEventListener("change", () => setTheme(darkness.matches ? "dark" : "light"));
setTheme(darkness.matches ? "dark" : "light");
find("#theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

// Tasks
const rows = all("#rows tbody tr");
const filters = find("#filters");
for (const row of rows) row.words = row.textContent.toLowerCase() + " " + (find(".strip", row).getAttribute("aria-label") || "").toLowerCase();

function filter() {
  const wanted = Object.fromEntries(new FormData(filters));
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((row) => {
    const fits = ["category", "method", "suite", "result", "ended"].every((key) => !wanted[key] || row.dataset[key] === wanted[key]);
    row.hidden = !(fits && words.every((word) => row.words.includes(word)));
    return !row.hidden;
  });
  find("#shown").textContent = `${kept.length} of ${rows.length}`;
}
filters.addEventListener("input", filter);
filters.addEventListener("reset", () => setTimeout(filter));
filters.addEventListener("submit", (event) => event.preventDefault());

const NUMBERS = new Set(["seed", "speedup", "modelled", "rounds", "tokens", "usd", "wall"]);
function compare(key, sign) {
  return (a, b) => {
    const [x, y] = [a.dataset[key], b.dataset[key]];
    if (x === "" || y === "") return (x === "") - (y === "");
    return sign * (NUMBERS.has(key) ? Number(x) - Number(y) : x.localeCompare(y));
  };
}
for (const button of all("#rows [data-sort]")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const ascending = head.ariaSort !== "ascending";
    for (const other of all("#rows thead th[aria-sort]")) other.ariaSort = "none";
    head.ariaSort = ascending ? "ascending" : "descending";
    rows.sort(compare(button.dataset.sort, ascending ? 1 : -1));
    find("#rows tbody").append(...rows);
  });
}

for (const button of all(".copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(find("code", button.parentElement).textContent);
    button.textContent = "Copied";
  });
}

// Texts
const index = JSON.parse(find("#index").textContent);
const packs = new Map();

async function unpack(number) {
  const bytes = Uint8Array.from(atob(find(`#pack-${number}`).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function piece(number) {
  let pack = index.starts.length - 1;
  while (index.starts[pack] > number) pack -= 1;
  if (!packs.has(pack)) packs.set(pack, unpack(pack));
  return (await packs.get(pack))[number - index.starts[pack]];
}

const text = async (ref) => (await Promise.all(ref.map(piece))).join("");

/** The lines of a source, each as coloured runs: [[class, text], ...]. */
async function source([pieces, colours]) {
  const lines = [[]];
  for (let i = 0; i < pieces.length; i += 1) {
    const body = await piece(pieces[i]);
    let place = 0;
    for (const [, length, kind] of (await piece(colours[i])).matchAll(/([0-9a-z]+)([A-Z])/g)) {
      const end = place + parseInt(length, 36);
      body.slice(place, end).split("\n").forEach((part, row) => {
        if (row) lines.push([]);
        if (part) lines[lines.length - 1].push([kind, part]);
      });
      place = end;
    }
  }
  if (!lines[lines.length - 1].length) lines.pop();
  return lines;
}

const plain = (line) => line.map(([, part]) => part).join("");
const line = (runs, number, kind) => el("span", { class: kind, "data-n": number },
  runs.map(([colour, part]) => (colour === "X" ? part : el("span", { class: `h${colour}` }, part))));

/** Longest common subsequence of lines: [kind, line, number] with kind "", "add" or "del". */
function difference(before, after) {
  const [a, b] = [before.map(plain), after.map(plain)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [n, m] = [a.length - head - tail, b.length - head - tail];
  const table = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = m - 1; j >= 0; j -= 1) {
      table[i][j] = a[head + i] === b[head + j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const found = after.slice(0, head).map((same, i) => ["", same, i + 1]);
  let [i, j] = [0, 0];
  while (i < n || j < m) {
    if (i < n && j < m && a[head + i] === b[head + j]) { found.push(["", after[head + j], head + j + 1]); i += 1; j += 1; }
    else if (i < n && (j === m || table[i + 1][j] >= table[i][j + 1])) { found.push(["del", before[head + i], head + i + 1]); i += 1; }
    else { found.push(["add", after[head + j], head + j + 1]); j += 1; }
  }
  return found.concat(after.slice(b.length - tail).map((same, k) => ["", same, b.length - tail + k + 1]));
}

// Numbers: unknown stays unknown
const thousands = new Intl.NumberFormat("en");
const whole = (value) => (value === null || value === undefined ? "unknown" : thousands.format(Math.round(value)));
const short = (value) => (value === null || value === undefined ? ""
  : value && Math.abs(value) < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(3)).toString());
const microseconds = (value) => (value === null || value === undefined ? "" : value.toFixed(value < 100 ? 2 : 1));
const usd = (value, upper) => (typeof value === "number" ? `$${value.toFixed(value && value < 0.1 ? 4 : 2)}`
  : typeof upper === "number" ? `<=$${upper.toFixed(4)}` : "unknown");
const seconds = (value) => (typeof value !== "number" ? "unknown" : value < 10 ? `${value.toFixed(2)} s` : value < 100 ? `${value.toFixed(0)} s`
  : `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, "0")} min`);
const times = (value) => `${value.toFixed(2)}x`;
const interval = (value, ci) => (typeof value !== "number" ? null
  : ci ? [times(value), el("span", { class: "low" }, ` [${ci[0].toFixed(2)}, ${ci[1].toFixed(2)}]`)] : times(value));
const total = (usage) => (usage ? usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h + usage.output : null);

// Parts of a trajectory's view
const tag = (kind, word) => el("span", { class: `tag ${kind}` }, word);
const json = (value) => el("pre", { class: "wrap", tabindex: 0 }, JSON.stringify(value, null, 1));
const more = (title, ...body) => el("details", null, el("summary", null, title), ...body);
const list = (pairs) => el("dl", null, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
  .map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

/** Columns are [title, whether a number, how a row's cell is written]; those that are empty in every row are left out. */
function grid(label, columns, records) {
  const cells = records.map((record) => columns.map(([, , write]) => write(record)));
  const shown = columns.map((_, i) => i).filter((i) => cells.some((row) => row[i] !== "" && row[i] !== null && row[i] !== undefined));
  const at = (i) => ({ class: columns[i][1] ? "n" : null });
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, el("table", null,
    el("thead", null, el("tr", null, shown.map((i) => el("th", { scope: "col", ...at(i) }, columns[i][0])))),
    el("tbody", null, cells.map((row) => el("tr", null, shown.map((i) => el("td", { class: columns[i][1] ? "n" : columns[i][0] === "what" ? "words" : null }, row[i])))))));
}

function section(title, ...body) {
  return el("section", null, el("h3", null, title), ...body);
}

function cases(found) {
  if (!found.length) return null;
  const right = found.filter((row) => row.ok).length;
  return section(`Cases, ${right} of ${found.length} right`, grid("Cases", [
    ["case", false, (row) => row.case + (row.held_out ? " (held out)" : "")],
    ["verdict", false, (row) => tag(row.ok ? "pass" : "wrong", row.ok ? "pass" : row.kind)],
    ["max abs", true, (row) => short(row.max_abs)],
    ["rel rms", true, (row) => short(row.rel_rms)],
    ["tolerance", true, (row) => short(row.tolerance)],
    ["matched", true, (row) => (row.matched === null ? "" : `${short(100 * row.matched)} %`)],
    ["what", false, (row) => row.message],
  ], found));
}

function timing(evaluation) {
  const found = evaluation.timing;
  if (!found) return evaluation.no_timing ? section("Timing", el("p", { class: "low" }, `Not measured: ${evaluation.no_timing}`)) : null;
  return section(`Timing against ${found.baseline}, 95 % intervals`, grid("Timing by size", [
    ["size", false, (row) => row.case],
    ["baseline us", true, (row) => microseconds(row.baseline_us)],
    ["candidate us", true, (row) => microseconds(row.candidate_us)],
    ["speedup", true, (row) => interval(row.speedup, row.ci)],
    ["warm L2", true, (row) => (row.warm ? interval(row.warm.speedup, row.warm.ci) : "")],
    ["over torch.compile", true, (row) => (row.compile ? (row.compile.error ? "failed" : interval(row.compile.speedup, row.compile.ci)) : "")],
    ["floor us", true, (row) => microseconds(row.floor_us)],
    ["host us", true, (row) => microseconds(row.candidate_host_us)],
  ], [...found.sizes, { case: "all, geometric mean", speedup: found.speedup, ci: found.ci }]),
  ...(found.notes || []).map((note) => el("p", { class: "low" }, note)),
  el("p", { class: "low" }, found.noisy ? `The host was noisy: the baseline against itself gave ${short(found.self_ratio)}. ` : "", found.method));
}

function modelled(found) {
  if (!found) return null;
  if (!found.sizes) return section("Modelled, not measured", el("p", { class: "low" }, found.error || ""));
  return section(`Modelled for ${found.hardware}, not measured`, grid("Modelled times by size", [
    ["size", false, (row) => row.case],
    ["baseline us", true, (row) => microseconds(row.baseline_us)],
    ["candidate us", true, (row) => microseconds(row.candidate_us)],
    ["speedup", true, (row) => times(row.speedup)],
    ["bound", false, (row) => row.bound || ""],
    ["launches", true, (row) => row.launches ?? ""],
  ], found.sizes), found.extrapolation ? more("How it was modelled", el("p", { class: "low" }, found.extrapolation)) : null);
}

function compiled(targets) {
  const kernels = targets.flatMap((target) => target.kernels.map((kernel) => ({ ...kernel, target: target.target })));
  const errors = targets.filter((target) => target.error);
  if (!kernels.length && !errors.length) return null;
  const took = targets.reduce((sum, target) => sum + (target.seconds || 0), 0);
  return section(`Compile resources, ${seconds(took)}`, kernels.length ? grid("Compiled kernels", [
    ["kernel", false, (row) => row.name + (row.held_out ? " (held out)" : "")],
    ["target", false, (row) => row.target],
    ["builds", true, (row) => row.builds],
    ["registers", true, (row) => row.registers ?? ""],
    ["spills", true, (row) => row.spills ?? ""],
    ["shared bytes", true, (row) => (typeof row.shared_bytes === "number" ? whole(row.shared_bytes) : "")],
    ["occupancy", true, (row) => (typeof row.occupancy === "number" ? `${Math.round(100 * row.occupancy)} %` : "")],
  ], kernels) : null, ...errors.map((target) => el("div", { class: "error" }, target.target,
    el("pre", { class: "wrap", tabindex: 0 }, typeof target.error === "string" ? target.error : JSON.stringify(target.error, null, 1)))));
}

function spend(calls) {
  if (!calls.length) return null;
  return section("Tokens and cost", grid("Calls", [
    ["call", false, (row) => row.role + (row.try > 1 ? `, try ${row.try}` : "")],
    ["outcome", false, (row) => row.outcome + (row.error ? `: ${row.error}` : "")],
    ["input", true, (row) => (row.usage ? whole(row.usage.input) : "unknown")],
    ["cache read", true, (row) => (row.usage && row.usage.cache_read ? whole(row.usage.cache_read) : "")],
    ["cache write", true, (row) => (row.usage && (row.usage.cache_write_5m + row.usage.cache_write_1h) ? whole(row.usage.cache_write_5m + row.usage.cache_write_1h) : "")],
    ["output", true, (row) => (row.usage ? whole(row.usage.output) : "unknown")],
    ["of it reasoning", true, (row) => (row.usage && row.usage.reasoning ? whole(row.usage.reasoning) : "")],
    ["usage from", false, (row) => row.usage_source],
    ["USD", true, (row) => usd(row.cost_usd, row.cost_upper)],
    ["time", true, (row) => seconds(row.end - row.start)],
    ["reply", false, (row) => row.parse || ""],
  ], calls));
}

function fault(error) {
  if (!error) return null;
  return el("div", { class: "error" }, el("strong", null, error.kind), ` ${error.message}`,
    Object.keys(error.detail || {}).length ? more("Detail", json(error.detail)) : null);
}

async function evidence(attempt, calls, link) {
  const found = attempt.evaluation;
  const error = found ? found.error : attempt.error ? { kind: attempt.error_kind || "error", message: attempt.error } : null;
  const conditions = found ? JSON.parse(await piece(found.conditions)) : null;
  const extra = found ? [["Memory", found.memory], ["Adversarial checks", found.adversarial], ["Torch operators", found.torch_work],
    ["Profile", found.profile], ["Seconds and memory", found.resources], ["Conditions", conditions]] : [];
  return el("div", { class: "evidence" },
    el("h2", null, `Attempt ${attempt.attempt} `, tag(attempt.standing, attempt.verdict)),
    attempt.strategy ? el("p", null, attempt.strategy) : null,
    fault(error),
    list([
      ["stage reached", attempt.stage],
      ["speedup", interval(attempt.speedup, attempt.speedup_ci) || `none: ${attempt.no_speedup || "unknown"}`],
      ["modelled", typeof attempt.modelled === "number" ? `${times(attempt.modelled)}, not measured` : null],
      ["parents", attempt.parents.length ? attempt.parents.flatMap((parent, i) => [i ? ", " : "", link(parent)]) : null],
      ["reply", attempt.parse === "ok" ? null : attempt.parse],
      ["tokens", whole(attempt.tokens)],
      ["cost", usd(attempt.cost_usd)],
      ["evaluation", `${seconds(attempt.wall_s)}, GPU ${seconds(attempt.gpu_s)}`],
      ["device", attempt.device],
      ["kernel", attempt.kernel_sha ? el("code", null, attempt.kernel_sha.slice(0, 16)) : "none"],
    ]),
    ...(found ? [cases(found.cases), timing(found), modelled(found.modelled), compiled(found.compile)] : []),
    spend(calls),
    section("More evidence", ...extra.filter(([, body]) => body && Object.keys(body).length).map(([title, body]) => more(title, json(body)))));
}

/** Messages or parts of a reply, each under its name. */
async function messages(parts) {
  return Promise.all(parts.map(async ([name, ref]) => [el("h3", null, name), el("pre", { class: "wrap", tabindex: 0 }, await text(ref))]));
}

const numbered = (lines, label) => el("pre", { class: "code", tabindex: 0, "aria-label": label }, lines);
const REACH = 4;

async function changes(attempt, parent) {
  const found = difference(await source(parent.kernel), await source(attempt.kernel));
  const near = new Set();
  found.forEach(([kind], i) => { if (kind) for (let k = i - REACH; k <= i + REACH; k += 1) near.add(k); });
  const lines = [];
  let left = 0;
  found.forEach(([kind, runs, number], i) => {
    if (near.has(i)) lines.push(line(runs, number, kind));
    else if (!left || near.has(i - 1)) {
      let same = 1;
      while (i + same < found.length && !near.has(i + same)) same += 1;
      lines.push(el("span", { class: "skip-lines", "data-n": "" }, `${same} equal line${same === 1 ? "" : "s"}`));
      left += 1;
    }
  });
  const count = (wanted) => found.filter(([kind]) => kind === wanted).length;
  return [el("p", { class: "low" }, `Against ${parent.attempt}: lines added ${count("add")}, removed ${count("del")}.`), numbered(lines, "Changes")];
}

function tabs(label, parts) {
  const panel = el("div", { class: "panel", role: "tabpanel", id: "panel" });
  const buttons = parts.map(([name, fill], i) => el("button", {
    type: "button", role: "tab", id: `tab-${i}`, "aria-controls": "panel",
    onclick: () => choose(i),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { const next = (i + step + parts.length) % parts.length; choose(next); buttons[next].focus(); }
    },
  }, name));
  async function choose(chosen) {
    tabs.last = parts[chosen][0];
    buttons.forEach((button, i) => { button.ariaSelected = String(i === chosen); button.tabIndex = i === chosen ? 0 : -1; });
    const filled = [await parts[chosen][1]()].flat(Infinity).filter(Boolean);
    if (buttons[chosen].ariaSelected !== "true") return;
    panel.replaceChildren(...filled);
    panel.setAttribute("aria-labelledby", `tab-${chosen}`);
  }
  choose(Math.max(0, parts.findIndex(([name]) => name === tabs.last)));
  return el("div", { class: "texts" }, el("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons), panel);
}

function texts(record, calls, attempt) {
  const parts = [];
  if (attempt && attempt.kernel) {
    parts.push(["Kernel", async () => numbered((await source(attempt.kernel)).map((runs, i) => line(runs, i + 1)), "Kernel source")]);
    const parents = attempt.parents.map((name) => record.attempts.find((other) => other.attempt === name)).filter((other) => other && other.kernel);
    for (const parent of parents) {
      parts.push([parents.length > 1 ? `Changes from ${parent.attempt}` : "Changes", () => changes(attempt, parent)]);
    }
  }
  for (const [name, key] of [["Prompt", "prompt"], ["Reply", "reply"]]) {
    const told = calls.filter((call) => call[key]);
    const many = (call) => (told.length > 1 ? [el("h3", null, `${call.role}, try ${call.try}`)] : []);
    if (told.length) parts.push([name, async () => Promise.all(told.map(async (call) => [...many(call), await messages(call[key])]))]);
  }
  const logs = attempt && attempt.evaluation ? Object.entries(attempt.evaluation.logs) : [];
  if (logs.length) parts.push(["Output", () => messages(logs)]);
  return parts.length ? tabs("Texts", parts) : el("p", { class: "low texts" }, "No text was recorded.");
}

function side(call, href, current) {
  const told = call.outcome === "ok" ? `${whole(total(call.usage))} tokens` : call.outcome;
  return el("a", { class: "attempt helper", href, "aria-current": current ? "true" : null }, el("b", null, call.role), el("small", null, told));
}

function timeline(record, calls, base, chosen) {
  const rounds = [...new Set([...record.attempts, ...calls].map((one) => one.round))].sort((a, b) => a - b);
  return el("ol", { class: "rounds", "aria-label": "Rounds" }, rounds.map((round) => el("li", null,
    el("h2", null, `Round ${round}`),
    record.attempts.filter((attempt) => attempt.round === round).map((attempt) => el("a", {
      class: "attempt", href: `${base}/${encodeURIComponent(attempt.attempt)}`, "aria-current": chosen === attempt ? "true" : null,
    }, el("b", { class: attempt.attempt === record.asked.champion ? "champion" : null }, el("i", { class: attempt.standing, "aria-hidden": "true" }), attempt.verdict),
    el("small", null, attempt.role, typeof attempt.speedup === "number" ? `, ${times(attempt.speedup)}`
      : typeof attempt.modelled === "number" ? `, ${times(attempt.modelled)} modelled` : ""))),
    calls.filter((call) => call.round === round).map((call) => side(call, `${base}/call-${call.number}`, chosen === call)))));
}

function heading(record) {
  const asked = record.asked;
  const speed = interval(asked.speedup, typeof asked.speedup_low === "number" ? [asked.speedup_low, asked.speedup_high] : null);
  return [
    el("h1", null, asked.task),
    el("p", { class: "lead" }, `${asked.category}, ${asked.method}, seed ${asked.seed}, run ${asked.run}`),
    el("dl", { class: "facts" }, [
      ["ended by", asked.end_reason || "not ended"],
      speed || typeof asked.modelled !== "number" ? ["speedup", speed || "none"] : ["modelled speedup", times(asked.modelled)],
      ["attempts", whole(record.attempts.length)],
      ["tokens", (asked.tokens_unknown ? ">=" : "") + whole(asked.tokens)],
      ["cost", (asked.usd_unknown ? ">=" : "") + usd(asked.usd)],
      ["time", seconds(asked.wall_s)],
    ].map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value)))),
  ];
}

function crumbs(key) {
  const order = rows.filter((row) => !row.hidden).map((row) => find("a", row)).filter(Boolean).map((link) => link.getAttribute("href").slice(1));
  const at = order.indexOf(key);
  const step = (word, other) => (at >= 0 && other ? el("a", { href: `#${other}` }, word) : el("a", { "aria-disabled": "true", role: "link" }, word));
  return el("nav", { class: "crumbs", "aria-label": "Trajectories" }, el("a", { href: "#tasks" }, "All tasks"), el("span"),
    step("Previous", order[at - 1]), step("Next", order[at + 1]));
}

let shown = null;
async function trajectory(key, part) {
  const view = find("#trajectory");
  if (!(key in index.records)) return view.replaceChildren(crumbs(key), el("h1", null, "No such trajectory in this report"));
  const record = JSON.parse(await piece(index.records[key]));
  record.calls.forEach((call, number) => { call.number = number; });
  const owned = new Set(record.attempts.flatMap((attempt) => attempt.calls));
  const others = record.calls.filter((call) => !owned.has(call.call_id));
  const base = `#${key}`;
  const call = others.find((other) => `call-${other.number}` === part);
  const attempt = call ? null : record.attempts.find((one) => one.attempt === part)
    || record.attempts.find((one) => one.attempt === record.asked.champion) || record.attempts[record.attempts.length - 1];
  const calls = call ? [call] : attempt ? record.calls.filter((one) => attempt.calls.includes(one.call_id)) : [];
  const link = (name) => el("a", { href: `${base}/${encodeURIComponent(name)}` }, name);
  const left = attempt ? await evidence(attempt, calls, link) : el("div", { class: "evidence" }, call ? el("h2", null, `Call of ${call.role}`) : null, spend(calls));
  view.replaceChildren(crumbs(key), ...heading(record), record.error ? el("p", { class: "notice" }, record.error) : "",
    timeline(record, others, base, call || attempt), el("div", { class: "detail" }, left, texts(record, calls, attempt)));
  if (shown === key) find(".attempt[aria-current]", view)?.focus({ preventScroll: true });
  else { scrollTo({ top: 0, behavior: "instant" }); view.focus({ preventScroll: true }); }
  shown = key;
}

// Where the page stands: `#trajectory/<run>/<trajectory>[/<attempt>]`, or an anchor of the report
async function go() {
  const [kind, run, name, part] = location.hash.slice(1).split("/");
  const single = kind === "trajectory";
  find("#report").hidden = single;
  find("#trajectory").hidden = !single;
  if (single) await trajectory(`${kind}/${run}/${name}`, part && decodeURIComponent(part));
  else {
    shown = null;
    if (kind) document.getElementById(kind)?.scrollIntoView();
  }
  for (const link of all(".bar nav a")) {
    if (link.hash === (single ? "#tasks" : location.hash)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  document.documentElement.dataset.ready = location.hash || "#";
}
addEventListener("hashchange", go);
go();
})();
