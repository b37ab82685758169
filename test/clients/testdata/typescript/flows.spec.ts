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
});

test("no mail comes", async ({ mailbox, goneboxService }) => {
  await mailbox.expectNoMessage({ timeout: 1000 });
  await send(goneboxService, mailbox.address);
  await expect(mailbox.expectNoMessage({ timeout: 20_000 })).rejects.toMatchObject({ code: "wait.unexpected_message" });
  await expect(mailbox.waitForCode({ from: "other", timeout: 300 })).rejects.toThrow(mailbox.address);
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

test("webhook to localhost", async ({ gonebox, goneboxService }) => {
  const account = await gonebox.request<{ token: string }>("POST", "/auth/register", { email: "ts@app.example", password: "correct horse" });
  const app = new Gonebox(gonebox.url, account.token);
  const hook = await receiver("otp.extracted");
  await app.request("POST", "/me/webhooks", { url: hook.url, events: ["otp.extracted"] });
  await send(goneboxService, (await app.createMailbox()).address, "--code", "135791");
  expect((await hook.event).data.code).toBe("135791");
});

test("no service answers", async () => {
  await expect(new Gonebox("http://127.0.0.1:9").createMailbox()).rejects.toThrow("http://127.0.0.1:9");
});
