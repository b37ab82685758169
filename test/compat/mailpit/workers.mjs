// Runs twelve workers with a hundred tests each, all at once and with the same addresses, each in a project of its own:
// node workers.mjs URL HOST:PORT. Half of them use the npm package mailpit-api, unmodified, the others make the calls of cypress-mailpit.
import assert from "node:assert/strict";
import { MailpitClient } from "mailpit-api";
import { send } from "./smtp.mjs";

const [url, smtp] = process.argv.slice(2);
const WORKERS = 12;
const TESTS = 100;
const AT_ONCE = 4; // tests of a worker

/** The calls that cypress-mailpit makes for mailpitDeleteAllEmails, mailpitSearchEmails and mailpitGetMail. */
class CypressCalls {
  constructor(base, auth) {
    this.base = `${base}/api/v1`;
    this.headers = { "Content-Type": "application/json", Accept: "application/json", ...(auth && { Authorization: `Basic ${btoa(`${auth.username}:${auth.password}`)}` }) };
  }

  async request(method, path) {
    const response = await fetch(this.base + path, { method, headers: this.headers });
    assert.equal(response.status, 200, `${method} ${path}`);
    return response;
  }

  async deleteMessages() {
    await this.request("DELETE", "/messages");
  }

  async waitForMessage({ query }) {
    for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((later) => setTimeout(later, 50))) {
      const { messages } = await (await this.request("GET", `/search?query=${encodeURIComponent(query)}&start=0&limit=50`)).json();
      if (messages.length > 0) return (await this.request("GET", `/message/${messages[0].ID}`)).json();
    }
    assert.fail(`no message for ${query}`);
  }

  async listMessages(start, limit) {
    return (await this.request("GET", `/messages?start=${start}&limit=${limit}`)).json();
  }
}

async function worker(number) {
  const name = `worker-${number}`;
  const auth = number % 4 < 2 ? undefined : { username: name, password: "any" }; // by the path, or by Basic authentication
  const base = auth ? url : `${url}/p/${name}`;
  if (auth) await send(smtp, "setup", ["setup@company.test"], "hello", "app@company.test", "", name); // opens the project
  const client = number % 2 === 0 ? new MailpitClient(base, { auth }) : new CypressCalls(base, auth);
  await client.deleteMessages();
  const test = async (i) => {
    const code = String(100_000 + number * TESTS + i);
    await send(smtp, `Your code ${i}`, ["ada@company.test"], `Your sign-in code is ${code}.`, "app@company.test", "", name);
    const message = await client.waitForMessage({ query: `to:ada@company.test subject:"Your code ${i}"` }, { timeout: 60_000, interval: 50 });
    assert.match(message.Text, new RegExp(`is ${code}\\.`), `${name} got the mail of another`);
  };
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < TESTS) await test(next++);
  }));
  const { total, messages } = await client.listMessages(0, 1000);
  assert.equal(total, TESTS, `${name} lists ${total} messages`);
  assert.equal(new Set(messages.map((m) => m.Subject)).size, TESTS);
}

await Promise.all(Array.from({ length: WORKERS }, (_, number) => worker(number)));
const everything = await new MailpitClient(url).listMessages(0, 1);
assert.equal(everything.total, WORKERS * TESTS);
console.log("ok");
