import { expect, it } from "vitest";
import { reached, unreachable } from "@/events/connection";
import { patiently } from "@/lib/patient";

const now = async () => {};

it("a part that could not be fetched while the server was away comes when it is back", async () => {
  let asked = 0;
  unreachable();
  const part = await patiently(async () => {
    asked += 1;
    if (asked < 10) throw new TypeError("Failed to fetch dynamically imported module");
    return "here";
  }, now);
  expect(part).toBe("here");
  reached();
});

it("a part that is missing while the server answers is given up", async () => {
  reached();
  let asked = 0;
  const load = async () => {
    asked += 1;
    throw new TypeError("Failed to fetch dynamically imported module");
  };
  await expect(patiently(load, now)).rejects.toThrow("Failed to fetch");
  expect(asked).toBe(3);
});
