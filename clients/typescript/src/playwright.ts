/** Fixtures for Playwright: a service for each worker, a mailbox for each test. */
import { test as base } from "@playwright/test";
import { Gonebox, type Mailbox, type Project } from "./index.js";
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
  /** A project of the worker's own, deleted after its tests: what an application sends while it is signed in with `project.smtp` is the worker's alone. */
  project: Project;
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
  project: [
    async ({ gonebox }, use, worker) => {
      const project = await gonebox.project(`worker-${worker.parallelIndex}-${Math.random().toString(36).slice(2, 10)}`);
      await use(project);
      await project.destroy();
    },
    { scope: "worker" },
  ],
  mailbox: async ({ gonebox }, use) => {
    const mailbox = await gonebox.createMailbox();
    await use(mailbox);
    await mailbox.destroy().catch(() => undefined); // it may have ended in the test
  },
});
