import { expect, it } from "vitest";
import { ChunkMissing, importWithRetry, part, preloadAll } from "@/lib/lazy";

const wait = async () => {};
const failing = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));

it("a part that could not be fetched while the server was away comes when it is back", async () => {
  let asked = 0;
  const load = async () => {
    asked += 1;
    return asked < 10 ? failing() : "here";
  };
  expect(await importWithRetry(load, { wait, serverIsThere: async () => false })).toBe("here");
});

it("a part that is missing while the server answers is given up, and the page is to be reloaded", async () => {
  let asked = 0;
  const load = () => {
    asked += 1;
    return failing();
  };
  const given = importWithRetry(load, { wait, serverIsThere: async () => true });
  await expect(given).rejects.toBeInstanceOf(ChunkMissing);
  await expect(given).rejects.toThrow("could not be loaded");
  expect(asked).toBe(3);
});

it("parts are loaded ahead of need, with those that they bring, and one that fails holds up no other", async () => {
  const loaded: string[] = [];
  part(async () => {
    loaded.push("page");
    part(async () => loaded.push("panel of the page"));
  });
  part(failing);
  part(async () => loaded.push("another page"));
  await preloadAll(wait);
  expect(loaded).toEqual(["page", "another page", "panel of the page"]);
});
