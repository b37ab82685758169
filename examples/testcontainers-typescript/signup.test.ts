// A test that starts Gonebox in a container and waits for the code that an application sends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Gonebox } from "gonebox";
import nodemailer from "nodemailer";
import { GenericContainer, Wait, type StartedTestContainer } from "testcontainers";

let container: StartedTestContainer;

before(async () => {
  container = await new GenericContainer("ghcr.io/gonebox/gonebox:latest")
    .withCommand(["serve", "--dev"])
    .withExposedPorts(8080, 1025, 8025)
    .withWaitStrategy(Wait.forHttp("/readyz", 8080))
    .start();
});

after(() => container.stop());

test("sign up, wait for the code", async () => {
  const host = container.getHost();
  const gonebox = new Gonebox(`http://${host}:${container.getMappedPort(8080)}`);
  const mailbox = await gonebox.createMailbox();

  // Your application does this.
  const application = nodemailer.createTransport({ host, port: container.getMappedPort(1025), auth: { user: "any", pass: "thing" } });
  await application.sendMail({ from: "app@company.test", to: mailbox.address, subject: "Your code", text: "Your sign-in code is 246810." });

  const code = await mailbox.waitForCode({ timeout: 30_000 });
  assert.equal(String(code), "246810");
});
