"use strict";
(() => {
  const KEPT_SECONDS = 120, KEPT_SLOTS = 36, KEPT_REQUESTS = 50;
  const WORDS = {
    ready: "ready", cooling: "cooling", probing: "probing", unavailable: "unavailable", disabled: "disabled",
    rate_limited: "over its limit", rejected: "rejected", quota_empty: "its quota is used up", operator: "by an operator",
    token_limited: "over its limit", token_rejected: "rejected", forbidden: "forbidden", upstream: "upstream's fault",
    configuration: "settings' fault", caller: "caller left", connect: "no connection", attempt_timeout: "no answer in time",
    reset: "connection cut", tls_handshake: "no TLS", unfinished: "unfinished",
  };
  const $ = (id) => document.getElementById(id);
  const word = (name) => WORDS[name] || String(name).replaceAll("_", " ");
  const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const make = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const draw = (svg, shapes) => svg.replaceChildren(...shapes.map(([name, attributes]) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) shape.setAttribute(key, attributes[key]);
    return shape;
  }));

  // Times and numbers, to as many digits as help.
  const span = (ms) => {
    if (ms == null) return "–";
    if (ms < 1000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
    const seconds = ms / 1000;
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60 % 60)} min`;
    return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600 % 24)} h`;
  };
  const number = (value) => value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
  const percent = (part, whole) => {
    if (!whole) return "–";
    // 100 only where all were served.
    return `${part === whole ? 100 : Math.floor(part / whole * 1000) / 10} %`;
  };
  const clock = (iso) => iso ? new Date(iso).toLocaleTimeString([], { hour12: false }) : "–";

  // Charts of the seconds: one polyline, or more where a second has no value.
  const seconds = new Map();
  const lines = (values, top, kind) => {
    const parts = [[]];
    values.forEach((value, x) => {
      if (value == null) { if (parts.at(-1).length) parts.push([]); return; }
      const y = 38 - Math.min(value / top, 1) * 36;
      parts.at(-1).push(`${x},${y.toFixed(1)}`);
      if (values[x + 1] == null) parts.at(-1).push(`${x + 1},${y.toFixed(1)}`);
    });
    return parts.filter((part) => part.length).map((part) => ["polyline", { points: part.join(" "), class: kind }]);
  };
  const chart = (id, label, series, least) => {
    const top = Math.max(least, ...series.flat().filter((value) => value != null));
    const kinds = ["first", "second"];
    const base = ["line", { class: "base", x1: 0, x2: 120, y1: 39.5, y2: 39.5 }];
    draw($(id), [base, ...series.flatMap((values, n) => lines(values, top, kinds[n]))]);
    $(id).setAttribute("aria-label", label);
  };
  const charts = (update) => {
    const { figures } = update;
    const all = [];
    for (let n = update.second - KEPT_SECONDS; n < update.second; n++) all.push(seconds.get(n));
    const each = (value) => all.map((second) => second ? value(second) : null);
    const some = (value) => each((second) => second.requests ? value(second) : null);
    const answered = figures.served + figures.failed;
    put($("rate"), figures.seconds ? number(figures.requests / figures.seconds) : "–");
    put($("share"), percent(figures.served, answered));
    put($("tries"), figures.requests ? number(figures.attempts / figures.requests) : "–");
    put($("time"), figures.requests ? `${span(figures.p50_ms)} / ${span(figures.p99_ms)}` : "–");
    const rates = each((second) => second.requests);
    chart("rate-chart", `Requests a second over two minutes, at most ${Math.max(0, ...rates)}`, [rates], 1);
    chart("share-chart", `Share of requests that were served, now ${$("share").textContent}`,
      [each((s) => s.served + s.failed ? s.served / (s.served + s.failed) : null)], 1);
    chart("tries-chart", `Attempts a request, now ${$("tries").textContent}`, [some((s) => s.attempts / s.requests)], 2);
    chart("time-chart", `Median and 99th percentile of the time to the answer, now ${$("time").textContent}`,
      [some((s) => s.p50_ms), some((s) => s.p99_ms)], 1);
  };

  // Who waits, and what retries there may be.
  const budgets = new Map();
  const gauges = (update) => {
    const waiting = update.pools.reduce((sum, pool) => sum + pool.waiting, 0);
    put($("waiting"), String(waiting));
    put($("predicted"), update.pools.map((pool) => {
      const wait = pool.predicted_wait_ms;
      const said = wait === 0 ? "no wait to expect" : wait == null ? "no token to expect" : `${span(wait)} to expect`;
      return update.pools.length > 1 ? `${pool.name}: ${said}` : said;
    }).join(", "));
    put($("in-flight"), String(update.in_flight));
    const seen = new Set(update.budgets.map((budget) => budget.upstream));
    for (const [upstream, row] of budgets) if (!seen.has(upstream)) { row.node.remove(); budgets.delete(upstream); }
    for (const { upstream, balance } of update.budgets) {
      let row = budgets.get(upstream);
      if (!row) {
        const fill = make("div"), value = make("span");
        const bar = make("div", { className: "bar", role: "meter", ariaLabel: `Retry budget of ${upstream}`, ariaValueMin: "0" }, fill);
        row = { value, bar, fill, top: 1, node: make("li", {}, make("span", { textContent: upstream }), value, bar) };
        budgets.set(upstream, row);
        $("budgets").append(row.node);
      }
      row.top = Math.max(row.top, balance);
      put(row.value, String(balance));
      row.fill.style.width = `${balance / row.top * 100}%`;
      row.bar.ariaValueMax = String(row.top);
      row.bar.ariaValueNow = String(balance);
    }
  };

  // The tokens. Rows are changed in place, so that the keyboard's focus stays where it is.
  const rows = new Map(), names = new Map();
  let order = [], pools = 1;
  const operate = (row, operation) => send(`/tokens/${row.token.id}/${operation}`, `${row.name}: ${operation}`);
  const newRow = (key) => {
    const cell = (label, ...children) => {
      const td = make("td", {}, ...children);
      td.dataset.label = label;
      return td;
    };
    const row = { key, deadline: 0, whole: 0, name: "" };
    row.title = make("span"); row.code = make("code");
    row.state = make("span", { className: "state" }); row.reason = make("span", { className: "why" });
    row.left = make("span"); row.fill = make("div");
    row.bar = make("div", { className: "bar", role: "progressbar", ariaValueMin: "0", ariaValueMax: "100" }, row.fill);
    row.rest = cell("Rest", row.left, row.bar);
    row.rest.className = "rest";
    row.chart = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of [["viewBox", `0 0 ${KEPT_SLOTS} 20`], ["preserveAspectRatio", "none"], ["role", "img"]]) row.chart.setAttribute(name, value);
    row.flying = cell("Under way"); row.status = cell("Last status"); row.counts = cell("Served / refused");
    row.numbers = [row.flying, row.status, row.counts].map((td) => td.appendChild(make("span")));
    row.reset = make("button", { type: "button", textContent: "Reset", onclick: () => operate(row, "reset") });
    row.bars = make("button", { type: "button", onclick: () => operate(row, row.token.state === "disabled" ? "enable" : "disable") });
    const wide = (td) => { td.classList.add("wide"); return td; };
    row.node = make("tr", {},
      make("th", { scope: "row" }, row.title, " ", row.code),
      cell("State", row.state, " ", row.reason), row.rest,
      wide(cell("Last three minutes", row.chart)), row.flying, row.status, row.counts,
      wide(cell("", make("div", { className: "actions" }, row.reset, row.bars))));
    row.node.dataset.key = key;
    rows.set(key, row);
    return row;
  };
  const showRow = (token, isNews) => {
    const row = rows.get(token.key) || newRow(token.key);
    const before = row.token && row.token.state;
    row.token = token;
    row.name = token.name || token.id.slice(0, 8);
    names.set(token.id, row.name);
    put(row.title, pools > 1 ? `${row.name} (${token.pool})` : row.name);
    put(row.code, token.name ? token.id : "");
    row.code.title = token.id;
    row.node.dataset.state = token.state;
    row.node.dataset.id = token.id;
    put(row.state, word(token.state));
    put(row.reason, [token.reason && word(token.reason), token.failures > 1 ? `${token.failures} in a row` : ""].filter(Boolean).join(", "));
    const resting = token.retry_in_ms > 0;
    row.deadline = resting ? performance.now() + token.retry_in_ms : 0;
    // The bar begins full: with the longest rest that was seen towards this end.
    if (!resting || row.until !== token.until) row.whole = 0;
    row.until = token.until;
    row.whole = Math.max(row.whole, token.retry_in_ms);
    [token.in_flight, token.last_status ?? "–", `${token.successes} / ${token.rate_limited + token.rejected}`]
      .forEach((value, n) => put(row.numbers[n], String(value)));
    row.reset.ariaLabel = `Reset ${row.name}`;
    const action = token.state === "disabled" ? "Enable" : "Disable";
    put(row.bars, action);
    row.bars.ariaLabel = `${action} ${row.name}`;
    row.bar.ariaLabel = `Rest of ${row.name}`;
    countDown(row);
    if (isNews && before && before !== token.state) {
      say(`${row.name} is ${word(token.state)}${resting ? ` for ${span(token.retry_in_ms)}` : ""}`);
    }
  };
  const countDown = (row) => {
    const left = Math.max(0, row.deadline - performance.now());
    row.rest.dataset.resting = row.deadline ? "yes" : "no";
    put(row.left, row.deadline ? span(Math.ceil(left / 100) * 100) : "–");
    const share = row.whole ? left / row.whole * 100 : 0;
    row.fill.style.width = `${share}%`;
    row.bar.ariaValueNow = String(Math.round(share));
    row.bar.ariaValueText = row.deadline ? `${span(left)} left` : "no rest";
  };
  const histories = (update) => {
    const now = Math.floor(update.second / update.slot_seconds);
    for (const row of rows.values()) {
      const { history } = row.token;
      const seen = history.filter(([slot]) => slot > now - KEPT_SLOTS);
      const top = Math.max(1, ...seen.map(([, ok, no]) => ok + no));
      const shapes = [["line", { class: "base", x1: 0, x2: KEPT_SLOTS, y1: 19.5, y2: 19.5 }]];
      let served = 0, refused = 0;
      for (const [slot, ok, no] of seen) {
        const x = KEPT_SLOTS - 1 - (now - slot);
        const [high, low] = [ok / top * 19, no / top * 19];
        served += ok; refused += no;
        if (ok) shapes.push(["rect", { class: "ok", x: x + .1, width: .8, y: 20 - high, height: high }]);
        if (no) shapes.push(["rect", { class: "no", x: x + .1, width: .8, y: 20 - high - low, height: low }]);
      }
      draw(row.chart, shapes);
      row.chart.setAttribute("aria-label", `${served} served and ${refused} refused in the last three minutes`);
    }
  };
  const tokens = (update) => {
    if (update.order) {
      order = update.order;
      pools = new Set(update.tokens.map((token) => token.pool)).size;
      for (const [key, row] of rows) if (!order.includes(key)) { row.node.remove(); rows.delete(key); }
    }
    for (const token of update.tokens) showRow(token, !update.full);
    const body = $("tokens").tBodies[0];
    if (update.order) order.forEach((key, n) => {
      const node = rows.get(key).node;
      if (body.children[n] !== node) body.insertBefore(node, body.children[n] || null);
    });
    const counts = {};
    for (const row of rows.values()) counts[row.token.state] = (counts[row.token.state] || 0) + 1;
    const said = Object.keys(WORDS).filter((state) => counts[state]).map((state) => `${counts[state]} ${state}`);
    put($("summary"), `${rows.size} ${rows.size === 1 ? "token" : "tokens"}: ${said.join(", ")}`);
  };

  // The last requests, each with what became of its attempts.
  let requests = [], paused = false;
  const attempt = (one, n) => {
    const why = [];
    if (one.cause === "retry") why.push(`again after ${span(one.wait_ms)}`);
    if (one.cause === "switch") why.push(one.wait_ms ? `other token after ${span(one.wait_ms)}` : one.token_wait_ms ? "other token" : "other token at once");
    if (one.token_wait_ms) why.push(`waited ${span(one.token_wait_ms)} for it`);
    const who = one.token ? names.get(one.token) || one.token.slice(0, 8) : "no token";
    const end = one.fault === "none" || one.fault === "request" ? word(one.ended) : `${word(one.ended)}${one.fault && /^\d/.test(one.ended) ? ` ${word(one.fault)}` : ""}`;
    const line = make("li", {}, `${n + 1}. ${who} → ${end} `);
    if (one.token) line.title = one.token;
    line.append(make("span", { className: "why", textContent: [`in ${span(one.took_ms)}`, ...why].join(", ") }));
    return line;
  };
  const requestRow = (request) => {
    const answer = make("td", { textContent: `${request.status ?? "caller left"} in ${span(request.took_ms)}` });
    answer.dataset.service = request.service;
    const tried = request.attempts.length ? make("ol", {}, ...request.attempts.map(attempt)) : make("span", { className: "why", textContent: "none" });
    const asked = make("td", {}, make("span", { className: "path", textContent: `${request.method} ${request.path}` }));
    asked.title = `request ${request.id}, route ${request.route}${request.client ? `, client ${request.client}` : ""}`;
    return make("tr", {}, make("td", { textContent: clock(request.at) }), asked, answer, make("td", {}, tried));
  };
  const list = (update) => {
    const body = $("requests").tBodies[0];
    if (update.full) { requests = []; body.replaceChildren(); }
    requests = requests.concat(update.requests).slice(-KEPT_REQUESTS);
    $("none").hidden = requests.length > 0;
    if (paused) return;
    body.prepend(...update.requests.map(requestRow).reverse());
    while (body.rows.length > KEPT_REQUESTS) body.lastElementChild.remove();
  };
  $("pause").onclick = () => {
    paused = !paused;
    $("pause").ariaPressed = String(paused);
    if (!paused) $("requests").tBodies[0].replaceChildren(...requests.map(requestRow).reverse());
  };

  // What is said aloud: at most a line every two seconds, or a screen reader would never come to its end.
  let news = [], speaking = null;
  const say = (line) => {
    news.push(line);
    speaking ||= setTimeout(() => { put($("news"), news.slice(-5).join("; ")); news = []; speaking = null; }, 2000);
  };
  const tell = (text, kind) => {
    $("alert").hidden = !text;
    $("alert").dataset.kind = kind;
    put($("alert"), text);
  };

  const send = async (path, what) => {
    try {
      const response = await fetch(path, { method: "POST", headers: { accept: "application/json" } });
      if (response.status === 401) return location.reload();
      const text = await response.text();
      const said = text ? JSON.parse(text) : {};
      const more = [...(said.faults || []), ...(said.notices || [])];
      if (response.ok) tell([`${what}: done`, ...more].join("\n"), "done");
      else tell([`${what}: ${said.title || response.status}. ${said.detail || ""}`, ...more].join("\n"), "failed");
    } catch {
      tell(`${what}: the gateway cannot be reached`, "failed");
    }
  };
  $("reset-all").onclick = () => send("/tokens/reset", "All tokens: reset");
  $("reload").onclick = () => send("/reload", "Reload");

  // The stream. A browser comes back by itself after a cut, but not after an answer that is no stream.
  let source = null, again = null, heard = 0;
  const link = (state, text) => { $("link").dataset.state = state; put($("link"), text); };
  const connect = () => {
    clearTimeout(again);
    if (source) source.close();
    heard = performance.now();
    source = new EventSource("/events");
    source.addEventListener("update", (event) => {
      heard = performance.now();
      const update = JSON.parse(event.data);
      if (update.full) seconds.clear();
      for (const second of update.seconds) seconds.set(second.number, second);
      for (const n of seconds.keys()) if (n < update.second - KEPT_SECONDS) seconds.delete(n);
      put($("version"), update.version);
      tokens(update); histories(update); gauges(update); charts(update); list(update);
      if (update.readiness === "ready") link("live", "live"); else link("waiting", update.readiness);
    });
    source.onerror = () => {
      link("lost", "cut off; trying again");
      if (source.readyState !== EventSource.CLOSED) return;
      again = setTimeout(async () => {
        const known = await fetch("/tokens", { method: "HEAD" }).then((r) => r.status, () => 0);
        if (known === 401) location.reload(); else connect();
      }, 2000);
    };
  };
  // A tab that nobody looks at holds no connection: browsers allow six to a host.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return connect();
    clearTimeout(again);
    source.close();
    link("waiting", "asleep");
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  setInterval(() => {
    for (const row of rows.values()) if (row.deadline) countDown(row);
    // Every second has its update: whoever hears nothing for ten is cut off, though the connection seems to stand.
    if (!document.hidden && source.readyState === EventSource.OPEN && performance.now() - heard > 10000) connect();
  }, calm ? 1000 : 100);
  connect();
})();
