/** Fixtures for Playwright: a service for each worker, a mailbox for each test. */
import { test as base } from "@playwright/test";
import { Gonebox } from "./index.js";
import { startService } from "./service.js";
export { expect } from "@playwright/test";
export const test = base.extend({
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
