// Reporter for vitest: `onFinished` of versions before 4, `onTestRunEnd` since 3.
import record from "./record.cjs";

const OUTCOMES = { passed: "passed", pass: "passed", failed: "failed", fail: "failed" };
const messages = (errors) => (errors ?? []).map((error) => error?.message ?? error).join("\n");

export default class {
  onInit() {
    this.write = record.writer("vitest", "vitest");
  }

  onTestRunEnd(modules, errors) {
    if (this.ended) return;
    for (const module of modules) {
      const own = module.errors?.() ?? [];
      if (own.length || module.state?.() === "failed") this.unloaded(module.moduleId, own, module.children.size);
      for (const test of module.children.allTests()) {
        const titles = [];
        for (let one = test; one && one !== module; one = one.parent) titles.unshift(one.name);
        const result = test.result();
        const seconds = (test.diagnostic()?.duration ?? 0) / 1000;
        this.add(module.moduleId, titles, result.state, seconds, result.errors);
      }
    }
    this.end(errors);
  }

  onFinished(files = [], errors = []) {
    if (this.ended) return;
    for (const file of files) {
      if (file.result?.errors?.length) this.unloaded(file.filepath, file.result.errors, file.tasks.length);
      this.tasks(file.filepath, file.tasks, []);
    }
    this.end(errors);
  }

  tasks(path, tasks, above) {
    for (const task of tasks) {
      const titles = [...above, task.name];
      if (task.type === "suite") this.tasks(path, task.tasks, titles);
      else this.add(path, titles, task.result?.state, (task.result?.duration ?? 0) / 1000, task.result?.errors);
    }
  }

  add(path, titles, state, seconds, errors) {
    this.write(record.test(path, titles, OUTCOMES[state] ?? "skipped", seconds, messages(errors)));
  }

  unloaded(path, errors, children) {
    if (errors.length || !children) this.write(record.test(path, [], "failed", 0, messages(errors)));
  }

  end(errors) {
    this.ended = true;
    this.write({ end: errors?.length ?? 0 });
  }
}
