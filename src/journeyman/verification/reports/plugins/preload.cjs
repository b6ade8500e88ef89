// Loaded into every Node process of a check: where that is a test runner, makes it report each test.
"use strict";
const { realpathSync } = require("node:fs");
const { join } = require("node:path");

let program = "";
try {
  program = realpathSync(process.argv[1]);
} catch {}
const has = (...names) => process.argv.some((word) => names.includes(word.split("=")[0]));
// Before the project's own arguments, which may end with positional ones.
const add = (...words) => process.argv.splice(2, 0, ...words);

if (/\/vitest\/(?:vitest\.mjs|dist\/cli\.js)$/.test(program)) {
  const { settings, pattern } = require("./record.cjs");
  add(...(has("--reporter") ? [] : ["--reporter=default"]), `--reporter=${join(__dirname, "vitest.mjs")}`);
  if (settings.seconds_per_test) add(`--testTimeout=${settings.seconds_per_test * 1000}`);
  if (pattern) add(`--testNamePattern=${pattern}`);
} else if (/\/jest(?:-cli)?\/bin\/jest\.js$/.test(program)) {
  const { settings, pattern } = require("./record.cjs");
  const reporters = [...(has("--reporters") ? [] : ["default"]), join(__dirname, "jest.cjs")];
  // A list takes the words that follow it: the last one here takes none.
  add(...reporters.map((name) => `--reporters=${name}`), "--testLocationInResults");
  if (settings.seconds_per_test) add(`--testTimeout=${settings.seconds_per_test * 1000}`);
  if (pattern) add(`--testNamePattern=${pattern}`);
} else if (/\/mocha\/(?:bin\/_?mocha(?:\.js)?|lib\/cli\/cli\.js)$/.test(program)) {
  const { pattern } = require("./record.cjs");
  if (pattern && !has("--grep")) add(`--grep=${pattern}`);
  require("./mocha.cjs")(program.replace(/\/(?:bin|lib\/cli)\/[^/]*$/, ""));
}
