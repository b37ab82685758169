// A test that starts Gonebox in a container and waits for the code that an application sends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gonebox } from "gonebox";
import { GoneboxContainer } from "gonebox/testcontainers";
import nodemailer from "nodemailer";

let container;

before(async () => {
  container = await new GoneboxContainer().start();
});

after(() => container?.stop());

test("sign up, wait for the code", async () => {
  const mailbox = await new Gonebox(container.url).createMailbox();

  // Your application does this.
  const application = nodemailer.createTransport({ host: container.smtpHost, port: container.smtpPort });
  await application.sendMail({ from: "app@company.test", to: mailbox.address, subject: "Your code", text: "Your sign-in code is 246810." });

  assert.equal(await mailbox.waitForCode({ timeout: 30_000 }), "246810");
});
