/** Fixtures for Playwright: a service for each worker, a mailbox for each test. */
import { test as base } from "@playwright/test";
import { Gonebox, type Mailbox } from "./index.js";
import { type Service, startService } from "./service.js";

export { expect } from "@playwright/test";

/** Fixtures of each test. */
export interface TestFixtures {
  /** A fresh mailbox, destroyed after the test. */
  mailbox: Mailbox;
}

/** Fixtures of each worker process. */
export interface WorkerFixtures {
  /** The service that GONEBOX_URL names, else one of the worker's own. */
  goneboxService: Service;
  /** The client of that service, with the key in GONEBOX_KEY if there is one. */
  gonebox: Gonebox;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  goneboxService: [
    async ({}, use) => {
      const service = await startService();
      await use(service);
      await service.stop();
    },
    { scope: "worker", timeout: 90_000 },
  ],
  gonebox: [({ goneboxService }, use) => use(new Gonebox(goneboxService.url, process.env.GONEBOX_KEY)), { scope: "worker" }],
  mailbox: async ({ gonebox }, use) => {
    const mailbox = await gonebox.createMailbox();
    await use(mailbox);
    await mailbox.destroy().catch(() => undefined); // it may have ended in the test
  },
});
