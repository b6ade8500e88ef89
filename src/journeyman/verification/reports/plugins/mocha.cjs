// Listens to mocha's runner beside whatever reporter the project uses.
"use strict";
const { EventEmitter } = require("node:events");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const record = require("./record.cjs");

module.exports = (root) => {
  let write;
  const add = (test, outcome, error) =>
    write(record.test(test.file, test.titlePath(), outcome, (test.duration ?? 0) / 1000, error?.message));
  const listeners = {
    start: () => (write = record.writer("mocha", "mocha")),
    pass: (test) => add(test, "passed"),
    fail: (test, error) => add(test, "failed", error),
    pending: (test) => add(test, "skipped"),
    end: () => write({ end: 0 }),
  };
  // A module of either kind; it is loaded long before mocha has read its tests.
  import(pathToFileURL(join(root, "lib", "runner.js"))).then(({ default: exported, Runner = exported }) => {
    Runner.prototype.emit = function (name, ...values) {
      listeners[name]?.(...values);
      return EventEmitter.prototype.emit.call(this, name, ...values);
    };
  });
};
