// Starts a container, waits for a code in it and prints where it was reached.
import { execFileSync } from "node:child_process";
import { Gonebox } from "gonebox";
import { GoneboxContainer } from "gonebox/testcontainers";

const [image, key] = process.argv.slice(2);
const container = new GoneboxContainer(image || undefined);
if (key) container.withEnvironment({ GONEBOX_DEV_KEY: key });
const started = await container.start();
try {
  const mailbox = await new Gonebox(started.url, started.key).createMailbox();
  const send = (to) => execFileSync(process.env.GONEBOX_BINARY, ["send", "--server", started.smtp, "--to", to, "--code", "246810"]);
  send(mailbox.address);
  send("ada@company.test"); // the sink, which the API of Mailpit shows
  const code = await mailbox.waitForCode();
  const { total } = await (await fetch(`${started.mailpit}/api/v1/messages`)).json();
  const { url, smtp, smtpHost, smtpPort, mailpit } = started;
  console.log(JSON.stringify({ url, smtp, smtpHost, smtpPort: String(smtpPort), mailpit, key: started.key, code, total }));
} finally {
  await started.stop();
}
