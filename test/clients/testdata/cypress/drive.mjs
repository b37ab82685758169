// Drives the plug-in for Cypress as Cypress does, whose program cannot be installed everywhere: the tasks in this process, the commands
// from a bundle for browsers, in a context that has nothing of Node. Arguments and results of tasks go through JSON, as there.
//
//   node drive.mjs BUNDLER
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createContext, runInContext } from "node:vm";
import { readFileSync } from "node:fs";
import configuration from "./cypress.config.js"; // of the README, as the support file and the spec

// The process of the configuration.
const tasks = {};
const config = await configuration.e2e.setupNodeEvents((event, handlers) => {
  assert.equal(event, "task");
  Object.assign(tasks, handlers);
}, { env: { OTHER: "kept" } });
const service = config.env;
assert.equal(service.OTHER, "kept");
assert.match(service.GONEBOX_URL, /^http:\/\/127\.0\.0\.1:\d+$/);
const send = (to, ...flags) => execFileSync(process.env.GONEBOX_BINARY, ["send", "--server", service.GONEBOX_SMTP, "--to", to, ...flags]);

// The support file, bundled: as a module, and as CommonJS, to which Cypress compiles TypeScript.
const { rolldown } = await import(process.argv[2]);
const bundles = [];
for (const input of ["e2e.js", "support.cjs"]) {
  const bundle = await rolldown({ input, platform: "browser", cwd: import.meta.dirname });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false });
  assert.equal(output.length, 1);
  assert.ok(!/node:|child_process/.test(output[0].code), `${input}: the bundle has a part of Node`);
  bundles.push(output[0].code);
}

// The browser.
const commands = {};
const calls = []; // of tasks
let after; // each test
const chain = (promise) => ({ then: (f, failed) => chain(promise.then(f, failed)), ...Object.fromEntries(Object.entries(commands).map(([name, f]) => [name, (...args) => chain(promise.then((subject) => f(subject, ...args)))])) });
const cy = new Proxy({}, {
  get: (_, name) =>
    name === "task"
      ? (task, argument, options) => {
          const done = async () => {
            assert.ok(tasks[task], `the task ${task} is not registered`);
            const result = await tasks[task](JSON.parse(JSON.stringify(argument)));
            assert.notEqual(result, undefined, `Cypress refuses undefined as the result of ${task}`);
            return JSON.parse(JSON.stringify(result));
          };
          const running = done();
          calls.push({ task, options, running });
          return chain(running);
        }
      : (...args) => chain(Promise.resolve().then(() => commands[name](undefined, ...args))),
});
const Cypress = {
  Commands: {
    add(name, options, f) {
      if (typeof options === "function") commands[name] = (_, ...args) => options(...args);
      else {
        assert.deepEqual({ ...options }, { prevSubject: "optional" });
        commands[name] = f;
      }
    },
  },
};
const sandbox = { Cypress, cy, afterEach: (f) => (after = f), URL, URLSearchParams, TextEncoder, TextDecoder, btoa, performance, setTimeout, clearTimeout, AbortController, fetch };
for (const code of bundles) {
  for (const name of Object.keys(commands)) delete commands[name];
  runInContext(code, createContext(sandbox));
  assert.deepEqual(Object.keys(commands).sort(), ["mailbox", "waitForCode", "waitForLink"]);
}

// A sign-up and a reset of the password, in a mailbox each.
const ada = await cy.mailbox();
assert.deepEqual(Object.keys(ada).sort(), ["address", "id", "token"]);
send(ada.address, "--code", "246810", "--from", "shop@company.test");
assert.equal(await cy.waitForCode({ from: "shop@" }), "246810");
const ben = await cy.mailbox({ localPart: "ben" });
assert.match(ben.address, /^ben@/);
const link = "https://app.example/reset?token=Zx81";
send(ben.address, "--subject", "Your password", "--html", `<a href="${link}">Reset your password</a>`);
assert.equal(await cy.waitForLink({ subject: "password" }), link); // of the newest mailbox
assert.equal(await chain(Promise.resolve(ada)).waitForCode(), "246810"); // of the mailbox that it is called on

// The spec of the README: a visitor signs up, and the application sends its code.
let spec, enter;
const entered = new Promise((resolve) => (enter = resolve));
const element = (selector) => ({
  type: (text) => (selector === "#email" ? send(text, "--code", "135790") : enter(text)),
  click: () => undefined,
});
const page = new Proxy(cy, { get: (_, name) => ({ visit: () => undefined, get: element, contains: element })[name] ?? cy[name] });
runInContext(readFileSync("signup.cy.js", "utf8"), createContext({ cy: page, it: (_, f) => (spec = f) }));
spec();
assert.equal(await entered, "135790");

// A wait that fails says why, before Cypress ends the task.
await assert.rejects(async () => await cy.waitForCode({ from: "nobody@", timeout: 100 }), { code: "wait.timeout" });
const { options } = calls.findLast(({ task }) => task === "gonebox:waitForCode");
assert.ok(options.timeout > 5000, `the task may take ${options.timeout} ms, want more than the wait and its grace`);
await assert.rejects(async () => await chain(Promise.resolve({ tag: "button" })).waitForCode(), { code: "client.no_mailbox" });

// After the test its mailboxes are gone, and the next one has none.
const ended = async () => { // Cypress waits for the commands of a hook, whatever it returns
  after();
  await Promise.allSettled(calls.map(({ running }) => running));
};
await ended();
for (const { token } of [ada, ben]) {
  const answer = await fetch(`${service.GONEBOX_URL}/api/v1/mailboxes/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.ok(answer.status === 401 || answer.status === 404 || answer.status === 410, `the mailbox answers ${answer.status}`);
}
await assert.rejects(async () => await cy.waitForLink(), { code: "client.no_mailbox" });
const before = calls.length;
await ended();
assert.equal(calls.length, before, "a test without a mailbox has nothing to destroy");
console.log("ok");
process.exit(); // ends the service
