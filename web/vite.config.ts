import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.JOURNEYMAN_URL ?? "http://127.0.0.1:8700";
const outDir = "../src/journeyman/web_dist";
const packed = /\.(js|css|html|svg|json)$/;

/** Pack what packs well once, here, so that the server only has to hand it out. */
function gzipped(): Plugin {
  return {
    name: "gzipped",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
        const path = join(outDir, name);
        if (packed.test(name)) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), gzipped()],
  resolve: { alias: { "@": join(import.meta.dirname, "src") } },
  build: { outDir, emptyOutDir: true, target: "es2023", chunkSizeWarningLimit: 1000, assetsInlineLimit: 0 },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/health", "/ready"].map((path) => [path, { target: server, headers: { origin: server } }]),
    ),
  },
  test: {
    environment: "happy-dom",
    environmentOptions: { happyDOM: { url: "http://journeyman.test/" } },
    include: ["tests/**/*.test.{ts,tsx}"],
    unstubGlobals: true,
  },
});
