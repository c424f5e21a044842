"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const reasons = { disagree: "Graders disagree", rejected: "All reject", sampled: "Accepted, sampled" };
  const CHUNK = 400;
  const decisions = new Map(Object.entries(data.decisions));
  let filter = "all";
  let shown = [];
  let current = 0;
  let waiting = Promise.resolve();

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined && text !== null) element.textContent = text;
    return element;
  }

  // Only what formula.py cleaned and escaped and what Pygments escaped come in as markup.
  function markup(tag, className, html) {
    const element = make(tag, className);
    element.innerHTML = html;
    return element;
  }

  const decided = (item) => (decisions.get(item.key) || {}).decision || "";

  function loadStore() {
    if (data.saveTo) return;
    find("download").hidden = false;
    try {
      const kept = JSON.parse(localStorage.getItem(data.store) || "{}");
      for (const [key, value] of Object.entries(kept)) decisions.set(key, value);
    } catch (fault) {
      tell("This browser keeps nothing: save the decisions before you close the page", true);
    }
  }

  function tell(text, failed) {
    find("saved").textContent = text;
    find("saved").classList.toggle("failed", Boolean(failed));
  }

  function save(key) {
    const value = decisions.get(key);
    if (!data.saveTo) {
      try {
        localStorage.setItem(data.store, JSON.stringify(Object.fromEntries(decisions)));
        tell("Kept in this browser");
      } catch (fault) {
        tell("Not kept: save the decisions to a file", true);
      }
      return;
    }
    tell("Saving");
    const body = JSON.stringify({ key, decision: value.decision, note: value.note });
    const headers = { "Content-Type": "application/json" };
    waiting = waiting
      .then(() => fetch(data.saveTo, { method: "POST", headers, body }))
      .then((answer) => {
        if (!answer.ok) throw new Error(String(answer.status));
        tell("Saved");
      })
      .catch(() => tell("Not saved: is the review command still running?", true));
  }

  function decide(choice) {
    const item = shown[current];
    if (!item) return;
    const old = decisions.get(item.key) || { decision: "", note: "" };
    decisions.set(item.key, { decision: old.decision === choice ? "" : choice, note: old.note });
    save(item.key);
    paintEntry(current);
    paintProgress();
    if (old.decision === choice) { paintCase(); return; }
    const later = shown.findIndex((other, place) => place > current && !decided(other));
    if (later >= 0) go(later); else paintCase();
  }

  function go(place) {
    if (!shown.length) { paintCase(); return; }
    const old = current;
    current = Math.max(0, Math.min(shown.length - 1, place));
    if (current >= find("list").childElementCount) growList(current);
    paintEntry(old);
    paintEntry(current);
    find("list").children[current].scrollIntoView({ block: "nearest" });
    find("side").classList.remove("open");
    find("menu").setAttribute("aria-expanded", "false");
    paintCase();
    find("case").scrollTop = 0;
  }

  function paintEntry(place) {
    const entry = find("list").children[place];
    if (!entry) return;
    entry.className = decided(shown[place]);
    entry.firstChild.setAttribute("aria-current", String(place === current));
  }

  function paintList() {
    const matches = { all: () => true, open: (item) => !decided(item) };
    const keep = matches[filter] || ((item) => item.reason === filter);
    shown = data.cases.filter(keep);
    find("list").replaceChildren();
    growList(0);
  }

  // A run may have many thousands of cases: entries are made when they are scrolled to or gone to.
  function growList(wanted) {
    const start = find("list").childElementCount;
    const end = Math.min(shown.length, Math.max(start + CHUNK, wanted + 1));
    const list = document.createDocumentFragment();
    for (let place = start; place < end; place += 1) {
      const item = shown[place];
      const entry = make("li", decided(item));
      const button = make("button");
      button.append(make("span", "mark"), make("span", "name", item.problem));
      button.append(make("span", "times", item.count > 1 ? `× ${item.count}` : ""));
      const accepted = item.graders.filter((one) => one.accepts).map((one) => one.name);
      const what = item.kind === "math" ? item.answer || "no answer" : "";
      button.append(make("span", "what", what || (accepted.length ? `accepted by ${accepted.join(", ")}` : item.graders[0].verdict.replaceAll("_", " "))));
      button.addEventListener("click", () => go(place));
      entry.append(button);
      list.append(entry);
    }
    find("list").append(list);
  }

  function paintFilters() {
    const count = (reason) => data.cases.filter((item) => item.reason === reason).length;
    const names = [["all", "All", data.cases.length], ["open", "Undecided", null]];
    for (const reason of Object.keys(reasons)) if (count(reason)) names.push([reason, reasons[reason], count(reason)]);
    find("filters").replaceChildren(...names.map(([name, label, number]) => {
      const button = make("button", "", number === null ? label : `${label} ${number}`);
      button.setAttribute("aria-pressed", String(name === filter));
      button.addEventListener("click", () => { filter = name; current = 0; paintFilters(); paintList(); go(0); });
      return button;
    }));
  }

  function paintProgress() {
    const done = data.cases.filter(decided).length;
    find("count").textContent = `${done} of ${data.cases.length} decided`;
    find("progress").style.width = `${data.cases.length ? (100 * done) / data.cases.length : 0}%`;
  }

  function formulaBox(title, text, math) {
    const box = make("section", "side");
    box.append(make("h3", "", title));
    if (text === null || text === "") box.append(make("div", "formula missing", "nothing was found in the reply"));
    else if (math) box.append(markup("div", "formula", math));
    else box.append(make("div", "formula", text));
    if (text) box.append(make("div", "raw", text));
    return box;
  }

  function pairs(list, rows) {
    for (const [name, value] of rows) if (value) list.append(make("dt", "", name), make("dd", "", value));
    return list;
  }

  function graderLine(one) {
    const line = make("div", "grader");
    line.append(make("span", "", one.name));
    line.append(make("span", `verdict ${one.accepts ? "yes" : "no"}`, one.verdict.replaceAll("_", " ")));
    const read = make("div", "read");
    const rows = one.failure
      ? [["input", one.failure[0]], ["expected", one.failure[1]], ["got", one.failure[2]], ["detail", one.detail]]
      : [["read", one.read[0]], ["key read as", one.read[1]], ["by", one.how], ["debatable", one.debatable], ["detail", one.detail]];
    read.append(pairs(make("dl"), rows));
    line.append(read);
    return line;
  }

  function part(title, ...content) {
    const box = make("section", "part");
    box.append(make("h3", "", title), ...content);
    return box;
  }

  function folded(title, content, open) {
    const box = make("details", "part");
    box.open = open;
    box.append(make("summary", "", title), content);
    return box;
  }

  const statementForm = (item) => (item.kind === "math" ? ["div", "prose"] : ["pre", ""]);

  function head(item) {
    const box = make("div", "case-head");
    box.append(make("h2", "", item.problem));
    const choice = decided(item);
    if (choice) box.append(make("span", `chip ${choice}`, choice));
    box.append(make("span", "chip", reasons[item.reason]));
    if (item.count > 1) {
      const chip = make("span", "chip", `${item.count} replies`);
      chip.title = item.places.join(", ");
      box.append(chip);
    }
    if (item.rule) box.append(make("span", "chip", `rule ${item.rule}`));
    if (item.subject) box.append(make("span", "chip", item.subject));
    if (item.truncated !== "no") box.append(make("span", "chip warn", item.truncated === "yes" ? "truncated" : "likely truncated"));
    return box;
  }

  function paintCase() {
    const item = shown[current];
    const panel = find("case");
    for (const button of document.querySelectorAll("[data-decision]")) {
      button.setAttribute("aria-pressed", String(Boolean(item) && decided(item) === button.dataset.decision));
    }
    if (!item) { panel.replaceChildren(make("p", "empty", "Nothing to read here.")); return; }
    const parts = [head(item)];
    const note = (decisions.get(item.key) || {}).note;
    if (note) parts.push(make("div", "note", note));
    if (item.kind === "math") {
      const pair = make("div", "pair");
      pair.append(formulaBox("Answer", item.answer, item.answerMath), formulaBox("Key", item.gold, item.goldMath));
      parts.push(pair);
    }
    const lines = make("div", "graders");
    lines.append(...item.graders.map(graderLine));
    parts.push(part("Graders", lines));
    if (item.kind === "code") {
      parts.push(item.code ? part("Program", markup("pre", "code", item.code)) : part("Program", make("p", "soft", "No program was found in the reply.")));
    }
    if (item.statement) parts.push(folded("Problem", markup(...statementForm(item), item.statement), item.kind === "math"));
    if (item.reply !== null) parts.push(folded("Reply", make("pre", "", item.reply), item.kind === "math" || !item.code));
    panel.replaceChildren(...parts);
  }

  function openNote() {
    const item = shown[current];
    if (!item) return;
    find("noteText").value = (decisions.get(item.key) || {}).note || "";
    find("noteBox").returnValue = "";
    find("noteBox").showModal();
    find("noteText").focus();
  }

  find("noteBox").addEventListener("close", () => {
    const item = shown[current];
    if (find("noteBox").returnValue !== "save" || !item) return;
    const old = decisions.get(item.key) || { decision: "" };
    decisions.set(item.key, { decision: old.decision, note: find("noteText").value });
    save(item.key);
    paintCase();
  });
  find("noteText").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); find("noteSave").click(); }
  });

  const keys = {
    1: () => decide("right"), r: () => decide("right"), 2: () => decide("wrong"), w: () => decide("wrong"),
    3: () => decide("debatable"), d: () => decide("debatable"), n: openNote,
    j: () => go(current + 1), ArrowRight: () => go(current + 1), k: () => go(current - 1), ArrowLeft: () => go(current - 1),
  };
  document.addEventListener("keydown", (event) => {
    if (find("noteBox").open || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  for (const button of document.querySelectorAll("[data-decision]")) {
    button.addEventListener("click", () => decide(button.dataset.decision));
  }
  find("note").addEventListener("click", openNote);
  find("next").addEventListener("click", () => go(current + 1));
  find("previous").addEventListener("click", () => go(current - 1));
  find("menu").addEventListener("click", () => {
    const open = find("side").classList.toggle("open");
    find("menu").setAttribute("aria-expanded", String(open));
  });
  find("list").addEventListener("scroll", () => {
    const list = find("list");
    const near = list.scrollTop + list.clientHeight > list.scrollHeight - 600;
    if (near && list.childElementCount < shown.length) growList(0);
  });
  find("download").addEventListener("click", () => {
    const lines = [...decisions].map(([key, value]) => JSON.stringify({ key, decision: value.decision, note: value.note || "" }) + "\n");
    const link = make("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "review.decisions.jsonl";
    link.click();
  });

  find("title").textContent = data.title;
  loadStore();
  paintFilters();
  paintList();
  paintProgress();
  go(Math.max(0, shown.findIndex((item) => !decided(item))));
})();
