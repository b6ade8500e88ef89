// Reporter for node:test. A suite is reported after its tests, so that titles are kept from its start.
import record from "./record.cjs";

export default async function* (source) {
  const write = record.writer("node test", "node_test");
  const above = [];
  for await (const { type, data } of source) {
    if (type === "test:start") {
      above.length = data.nesting;
      above[data.nesting] = data.name;
    }
    if ((type !== "test:pass" && type !== "test:fail") || data.details?.type === "suite") continue;
    const error = data.details?.error;
    if (error?.failureType === "subtestsFailed") continue;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = isSkipped ? "skipped" : type === "test:pass" ? "passed" : "failed";
    const titles = [...above.slice(0, data.nesting), data.name];
    const seconds = (data.details?.duration_ms ?? 0) / 1000;
    write(record.test(data.file, titles, outcome, seconds, error?.cause?.message ?? error?.message));
  }
  write({ end: 0 });
  yield "";
}
