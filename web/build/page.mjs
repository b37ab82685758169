// Builds the page into internal/webui/page, or with --check reports whether what is committed there is what web/ builds.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { check, put, stale } from "./files.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = fileURLToPath(new URL("../../internal/webui/page/", import.meta.url));
const command = "make web";

const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, ""));

// What is built in of these packages has to be passed on with their licences.
const parts = ["svelte", "openapi-fetch", "uqr", "tailwindcss", "daisyui"];

const licences = () => {
  const texts = parts.map((name) => {
    const folder = join(root, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return Buffer.from(texts.join("\n" + "-".repeat(80) + "\n\n"));
};

put(fileURLToPath(new URL("../../internal/webui/docs/page.LICENSE.txt", import.meta.url)), licences(), command);

const fresh = mkdtempSync(join(tmpdir(), "gonebox-page-"));
try {
  await build({ root, logLevel: "error", build: { outDir: fresh, emptyOutDir: true } });
  const built = files(fresh);
  for (const name of built) put(join(target, name), readFileSync(join(fresh, name)), command);
  for (const name of files(target).filter((name) => !built.includes(name))) {
    stale(join(target, name), command);
    if (!check) rmSync(join(target, name));
  }
} finally {
  rmSync(fresh, { recursive: true });
}
