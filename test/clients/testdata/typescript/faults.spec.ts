import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Gonebox, GoneboxError } from "gonebox";
import { startService } from "gonebox/service";
import { expect, test } from "gonebox/playwright";

const url = process.env.FAULTY_URL!;
const failure = (f: () => unknown) => Promise.resolve().then(f).then(() => new GoneboxError("none", "nothing failed"), (error: GoneboxError) => error);

test("a wait outlives a restart", async () => {
  const mailbox = await new Gonebox(url).createMailbox();
  expect((await mailbox.waitForMessage({ timeout: 60_000 })).subject).toBe("After the restart");
  expect(await mailbox.waitForCode({ timeout: 60_000 })).toBe("246810");
  expect(await mailbox.waitForLink({ timeout: 60_000 })).toBe("https://shop.example/verify");
});

test("a wait that cannot go on says what it waited for", async () => {
  const mailbox = await new Gonebox(url, "xu_down").createMailbox();
  for (const name of ["waitForCode", "waitForLink", "waitForMessage", "expectNoMessage"] as const) {
    const error = await failure(() => mailbox[name]({ timeout: 30_000 })); // less than Retry-After
    expect(error).toMatchObject({ code: "server.unavailable", status: 503, retryAfter: 600 });
    expect(error.message).toContain(`${name} (down@faulty.example) failed after `);
  }
});

test("a wait at a dead address ends with its time", async ({ gonebox }) => {
  const { token, address } = await gonebox.createMailbox();
  const real = globalThis.fetch;
  const mailbox = await gonebox.openMailbox(token);
  globalThis.fetch = (input, init) => real(String(input).replace(gonebox.url, "http://127.0.0.1:1"), init);
  const began = performance.now();
  const error = await failure(() => mailbox.waitForCode({ timeout: 1000 }));
  globalThis.fetch = real;
  expect(error.code).toBe("client.unreachable");
  expect(error.message).toContain(`waitForCode (${address}) failed after `);
  expect(error.message).toContain("(GET /mailboxes/me/messages: ");
  expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
});

test("a service takes other ports where its own are taken", async ({}, info) => {
  const program = info.outputPath("gonebox"); // ends the first time as gonebox does if another process has its port
  const script = [
    "#!/bin/sh",
    '[ -e "$0.tried" ] && exec "$REAL_BINARY" "$@"',
    'touch "$0.tried"',
    'echo "http.addr: listen tcp 127.0.0.1:1: bind: address already in use" >&2',
    "exit 1",
  ];
  await writeFile(program, script.join("\n") + "\n", { mode: 0o700 });
  const { GONEBOX_URL, GONEBOX_BINARY } = process.env;
  Object.assign(process.env, { GONEBOX_URL: "", REAL_BINARY: GONEBOX_BINARY, GONEBOX_BINARY: program });
  const service = await startService();
  Object.assign(process.env, { GONEBOX_URL, GONEBOX_BINARY });
  await service.stop();
});

for (const end of ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL", "exit", "crash"] as const) {
  test(`the service ends with the test run: ${end}`, async () => {
    const program = `import { startService } from "gonebox/service";
      import { spawnSync } from "node:child_process";
      await startService();
      console.log(spawnSync("pgrep", ["-P", String(process.pid), "gonebox"]).stdout.toString().trim());
      ${end === "exit" ? "process.exit(0)" : end === "crash" ? "setTimeout(() => { throw new Error() }, 0)" : ""}`;
    const { GONEBOX_URL: _, ...env } = process.env;
    const run = spawn(process.execPath, ["--input-type=module", "-e", program], { env, stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(run, "exit");
    const child = await new Promise<string>((resolve) => createInterface({ input: run.stdout }).once("line", resolve));
    expect(child).toMatch(/^\d+$/);
    if (end.startsWith("SIG")) run.kill(end as NodeJS.Signals);
    await ended;
    await expect.poll(() => existsSync(`/proc/${child}`), { message: `the service runs after ${end}`, timeout: 60_000 }).toBe(false);
  });
}

test("an invalid key is not shown", async () => {
  for (const key of ["x_abc_secret\n", "x_abc_secret\r\nX-More: 1", "x_abc_sécret", "x_abc secret", "“x_abc_secret”"]) {
    const error = await failure(() => new Gonebox("http://localhost:8080", key));
    expect(error.code).toBe("client.invalid_key");
    expect(error.message).not.toContain("abc");
    const swapped = await failure(() => new Gonebox(key, "http://localhost:8080"));
    expect(swapped.code).toBe("client.invalid_url");
    expect(swapped.message).not.toContain("abc");
  }
});
