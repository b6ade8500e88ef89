// Reporter for jest.
"use strict";
const record = require("./record.cjs");

const OUTCOMES = { passed: "passed", failed: "failed" };

module.exports = class {
  onRunStart() {
    this.write = record.writer("jest", "jest");
  }

  onTestResult(_test, file) {
    if (file.testExecError) this.write(record.test(file.testFilePath, [], "failed", 0, file.failureMessage));
    for (const one of file.testResults) {
      const titles = [...one.ancestorTitles, one.title];
      const [outcome, seconds] = [OUTCOMES[one.status] ?? "skipped", (one.duration ?? 0) / 1000];
      this.write(record.test(file.testFilePath, titles, outcome, seconds, one.failureMessages.join("\n")));
    }
  }

  onRunComplete(_contexts, results) {
    if (!results.wasInterrupted) this.write({ end: results.success ? 0 : 1 });
  }
};
