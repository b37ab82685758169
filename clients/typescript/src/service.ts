/** A Gonebox of its own for a test run, from the binary. Node only. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GoneboxError, pause } from "./http.js";

/** How often a service is started at most, each time on other ports, where another process took those that were free. */
const TRIES = 5;

/** A running service. */
export interface Service {
  url: string;
  /** HOST:PORT for the mail of the application under test: any address, without a user; a user's goes to the project of that name. Empty with GONEBOX_URL. */
  smtp: string;
  /** Ends the service, if this process started it. */
  stop(): Promise<void>;
}

/**
 * Returns the service that GONEBOX_URL names, or starts one: `gonebox serve --dev` on free ports with a temporary data
 * folder. The binary is the one that GONEBOX_BINARY names, else `gonebox` on the PATH. A service that was started ends
 * with `stop`, and with this process, however that ends: it shuts down when its standard input does.
 */
export async function startService(): Promise<Service> {
  const url = process.env.GONEBOX_URL;
  if (url) return { url, smtp: process.env.GONEBOX_SMTP ?? "", stop: async () => undefined };
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === TRIES || !(error instanceof GoneboxError) || !error.message.includes("address already in use")) throw error;
    }
  }
}

async function start(): Promise<Service> {
  const data = await mkdtemp(join(tmpdir(), "gonebox-"));
  const [http, smtp] = await freePorts(2);
  const service = { url: `http://127.0.0.1:${http}`, smtp: `127.0.0.1:${smtp}` };
  const settings = { "base_url": service.url, "compat.mailpit.addr": "", "smtp.tls.self_signed": "false" };
  const args = ["serve", "--dev", "--data-dir", data, "--http-addr", `127.0.0.1:${http}`, "--smtp-addr", service.smtp, "--stop-at-eof"];
  for (const [key, value] of Object.entries(settings)) args.push("--set", `${key}=${value}`);
  const binary = process.env.GONEBOX_BINARY || "gonebox";
  let output = "";
  const child = spawn(binary, args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // it has ended
  for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (text) => (output = (output + text).slice(-4000)));
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(`${error.message}. Put gonebox on the PATH, or set GONEBOX_BINARY to it, or GONEBOX_URL to a running service.`));
    child.on("exit", () => resolve(`it ended: ${output}`));
  });
  const kill = () => {
    child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true });
  };
  process.once("exit", kill);
  const stop = async () => {
    process.off("exit", kill);
    await interrupt(child, ended);
    await rm(data, { recursive: true, force: true });
  };
  const failure = await Promise.race([ended, ready(service.url)]);
  if (failure) {
    await stop();
    throw new GoneboxError("client.start_failed", `cannot start ${binary}: ${failure}`);
  }
  return { ...service, stop };
}

async function ready(url: string): Promise<string> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(50)) {
    if ((await fetch(`${url}/readyz`).catch(() => undefined))?.ok) return "";
  }
  return "it was not ready within 60 s";
}

async function interrupt(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(late);
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
      const server = createServer();
      server.on("error", reject).listen(0, "127.0.0.1", () => resolve(server));
    })),
  );
  const ports = servers.map((s) => (s.address() as { port: number }).port);
  await Promise.all(servers.map((s) => new Promise((closed) => s.close(closed))));
  return ports;
}
