// Writes the types of the API's client from the OpenAPI document of this very tree, which a service that runs for that long
// serves; OPENAPI_URL names another document. They are made before the page is built, checked or served, and not committed.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const root = fileURLToPath(new URL("../../", import.meta.url));
const target = fileURLToPath(new URL("../src/api/schema.d.ts", import.meta.url));
const heading = "// Generated from the OpenAPI document by build/types.mjs; edits here are lost.\n\n";

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
};

const fetchDocument = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.json();
};

// ownDocument builds the service of this tree, runs it, reads its document and stops it.
const ownDocument = async () => {
  const folder = mkdtempSync(join(tmpdir(), "gonebox-types-"));
  const program = join(folder, "gonebox");
  execFileSync("go", ["build", "-trimpath", "-o", program, "./cmd/gonebox"], { cwd: root, stdio: "inherit" });
  const http = `127.0.0.1:${await freePort()}`;
  const smtp = `127.0.0.1:${await freePort()}`;
  const args = ["serve", "--data-dir", join(folder, "data"), "--http-addr", http, "--smtp-addr", smtp];
  const service = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const line of createInterface(service.stdout)) {
      if (line.startsWith("Try: ")) return await fetchDocument(`http://${http}/api/v1/openapi.json`);
    }
    throw new Error("the service ended before it was ready");
  } finally {
    service.kill("SIGINT");
    await once(service, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
};

// withoutProse leaves out what a reader of the document wants and the types do not need, so that they change with the
// interface alone. Properties may be called "title" or "description" themselves: only texts are left out.
const withoutProse = (value) => {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (value === null || typeof value !== "object") return value;
  const prose = ([key, inner]) => ["title", "summary", "description", "default"].includes(key) && typeof inner !== "object";
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry) => !prose(entry))
      .map(([key, inner]) => [key, withoutProse(inner)]),
  );
};

const document = process.env.OPENAPI_URL ? await fetchDocument(process.env.OPENAPI_URL) : await ownDocument();
writeFileSync(target, heading + astToString(await openapiTS(withoutProse(document))));
