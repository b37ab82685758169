import { Gonebox } from "gonebox";
import { expect, test } from "gonebox/playwright";
import { receiver, send } from "./app";

test("sign up, wait for the code", async ({ mailbox, goneboxService }) => {
  await send(goneboxService, mailbox.address, "--code", "246810");
  expect(await mailbox.waitForCode()).toBe("246810");
});

test("reset by link", async ({ mailbox, goneboxService }) => {
  const link = "https://app.example/reset?token=Zx81";
  await send(goneboxService, mailbox.address, "--subject", "Your password", "--html", `<a href="https://app.example/">App</a> <a href="${link}">Reset</a>`);
  expect(await mailbox.waitForLink({ subject: "password" })).toBe(link);
});

test("invoice with attachment and subject", async ({ mailbox, goneboxService }) => {
  await send(goneboxService, mailbox.address, "--subject", "Invoice 4711", "--from", "billing@app.example", "--attach", "invoice.txt");
  await send(goneboxService, mailbox.address, "--subject", "Newsletter");
  const mail = await mailbox.waitForMessage({ from: "billing@", subject: "invoice", has: "attachment" });
  expect(mail.subject).toBe("Invoice 4711");
  const [file] = mail.attachments;
  expect(file!.filename).toBe("invoice.txt");
  expect(new TextDecoder().decode(await mailbox.attachment(mail.id, file!.id))).toBe("EUR 42\n");
  expect(mail.verified).toBe(false);
  expect(mail.authentication).toMatchObject({ dkim: "none", verified: false, domain: null });
});

test("an address of the sink before its mail", async ({ gonebox, goneboxService }) => {
  const mailbox = await gonebox.openMailbox("new.user@company.test");
  const code = mailbox.waitForCode();
  await send(goneboxService, "new.user@company.test", "--code", "246810");
  expect(await code).toBe("246810");
  expect((await gonebox.openMailbox(mailbox.address)).id).toBe(mailbox.id);
  const { lines, refused } = await mailbox.transcript((await mailbox.waitForMessage()).id);
  expect(lines.at(-1)).toMatchObject({ from: "server", text: "250 2.0.0 Message taken" });
  expect(refused).toBe(false);
});

test("no mail comes", async ({ mailbox, goneboxService }) => {
  await mailbox.expectNoMessage({ timeout: 1000 });
  await send(goneboxService, mailbox.address);
  await expect(mailbox.expectNoMessage({ timeout: 20_000 })).rejects.toMatchObject({ code: "wait.unexpected_message" });
  await expect(mailbox.waitForCode({ from: "other", timeout: 300 })).rejects.toThrow(mailbox.address);
});

test("a project of the worker's own", async ({ project }) => {
  expect(project.smtp.username).toBe(project.name);
  await project.inject({ text: "Your code is 135790." });
  expect(await project.waitForCode()).toBe("135790");
  await expect(project.waitForCode({ to: "nobody@", timeout: 300 })).rejects.toThrow(project.name);
});

test("40 in parallel", async ({ gonebox }) => {
  const codes = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const mailbox = await gonebox.createMailbox();
      const code = mailbox.waitForCode({ timeout: 60_000 });
      await mailbox.inject({ text: `Your code is ${246800 + i}.` });
      return code;
    }),
  );
  expect(codes).toEqual(Array.from({ length: 40 }, (_, i) => String(246800 + i)));
});

test("messages as they come", async ({ mailbox }) => {
  await mailbox.inject({ subject: "Before", text: "Hello" });
  const subjects: string[] = [];
  let second = () => {};
  const both = new Promise<void>((resolve) => (second = resolve));
  const stop = mailbox.on("message", (m) => subjects.push(m.subject) === 2 && second());
  await mailbox.inject({ subject: "One", text: "Hello", attachments: [{ filename: "a.bin", content: new Uint8Array([0, 255]) }] });
  await mailbox.inject("Subject: Two\r\n\r\nHello\r\n");
  await both;
  stop();
  expect(subjects).toEqual(["One", "Two"]);
});

test("checks of a message", async ({ mailbox }) => {
  const message = await mailbox.inject({ text: "Hello", html: "<p>\n<b style='display:grid'>Hello</b></p>" });
  const { score, clientsAsOf, warnings } = await mailbox.checks(message.id);
  expect(score).toBeLessThan(100);
  expect(clientsAsOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(warnings.map((w) => w.code)).toContain("unsubscribe_missing");
  const grid = warnings.find((w) => w.feature === "css-display-grid");
  expect(grid).toMatchObject({ code: "html_feature", title: "display:grid", line: 2 });
  expect(grid?.clients).toContain("Outlook Windows");
});

test("webhook to localhost", async ({ gonebox, goneboxService }) => {
  const account = await gonebox.request<{ token: string }>("POST", "/auth/register", { email: "ts@app.example", password: "correct horse" });
  const app = new Gonebox(gonebox.url, account.token);
  const hook = await receiver("otp.extracted");
  await app.request("POST", "/me/webhooks", { url: hook.url, events: ["otp.extracted"] });
  await send(goneboxService, (await app.createMailbox()).address, "--code", "135791");
  expect((await hook.event).data.code).toBe("135791");
});

test("all mail of an account", async ({ gonebox, goneboxService }) => {
  const account = await gonebox.request<{ token: string }>("POST", "/auth/register", { email: "ts-all@app.example", password: "correct horse" });
  const app = new Gonebox(gonebox.url, account.token);
  const { key } = await app.request<{ key: string }>("POST", "/me/api-keys", { name: "n", scopes: ["messages:read"] });
  const [one, two] = [await app.createMailbox(), await app.createMailbox()];
  const link = "https://app.example/reset?token=Zx81";
  for (const client of [app, new Gonebox(gonebox.url, key)]) {
    await send(goneboxService, one.address, "--code", "135791", "--subject", "Code for one");
    await send(goneboxService, two.address, "--subject", "Reset", "--html", `<a href="${link}">Reset</a>`);
    expect(await client.waitForCode({ to: one.address })).toBe("135791");
    expect(await client.waitForLink({ to: two.address, q: "subject:reset" })).toBe(link);
    expect((await client.waitForMessage({ q: "code", mailbox: one.id })).subject).toBe("Code for one");
    expect((await client.messages({ q: "reset", to: two.address, limit: 1 })).map((m) => m.address)).toEqual([two.address]);
    await expect(client.waitForCode({ to: two.address, timeout: 300 })).rejects.toThrow(two.address);
  }
  expect(await one.waitForCode({ to: one.address })).toBe("135791");
  expect(await one.messages({ to: "absent@" })).toEqual([]);
});

test("no service answers", async () => {
  await expect(new Gonebox("http://127.0.0.1:9").createMailbox()).rejects.toThrow("http://127.0.0.1:9");
});
