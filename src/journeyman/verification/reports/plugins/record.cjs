// Appends lines of JSON for one runner; `settings.json` beside it says where.
"use strict";
const { appendFileSync, existsSync, readFileSync, readdirSync } = require("node:fs");
const { join, relative } = require("node:path");

const settings = JSON.parse(readFileSync(join(__dirname, "settings.json"), "utf8"));

// Whether a process above this one reports already: a runner that is the subject of a test.
function isNested() {
  try {
    const reporting = new Set(readdirSync(settings.reports).map((name) => name.split(".")[1]));
    let process_ = String(process.ppid);
    while (Number(process_) > 1) {
      if (reporting.has(process_)) return true;
      const stat = readFileSync(`/proc/${process_}/stat`, "utf8");
      process_ = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ")[1];
    }
  } catch {}
  return false;
}

function writer(runner, name) {
  const path = join(settings.reports, `${name}.${process.pid}.jsonl`);
  const nested = isNested();
  const write = (record) => {
    if (nested) return;
    try {
      appendFileSync(path, JSON.stringify(record) + "\n");
    } catch {}
  };
  if (!existsSync(path)) write({ begin: runner, is_part: false });
  return write;
}

function test(file, titles, outcome, seconds, message) {
  const place = file ? relative(settings.workspace, file) : "";
  const id = [place, ...titles].filter(Boolean).join(" > ");
  return { id, outcome, file: place, seconds, message: String(message ?? "").slice(0, 4000) };
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
// Matches the full names, as runners make them of the titles, of the tests that are asked for.
const names = settings.only.map((id) => escape(id.split(" > ").slice(1).join(" ")));
const pattern = names.length ? `^ ?(?:${names.join("|")})$` : null;

module.exports = { settings, writer, test, pattern };
