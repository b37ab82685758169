"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.test = exports.expect = void 0;
/** Fixtures for Playwright: a service for each worker, a mailbox for each test. */
const test_1 = require("@playwright/test");
const index_js_1 = require("./index.js");
const service_js_1 = require("./service.js");
var test_2 = require("@playwright/test");
Object.defineProperty(exports, "expect", { enumerable: true, get: function () { return test_2.expect; } });
exports.test = test_1.test.extend({
    goneboxService: [
        async ({}, use) => {
            const service = await (0, service_js_1.startService)();
            await use(service);
            await service.stop();
        },
        { scope: "worker", timeout: 90_000 },
    ],
    gonebox: [({ goneboxService }, use) => use(new index_js_1.Gonebox(goneboxService.url, process.env.GONEBOX_KEY)), { scope: "worker" }],
    mailbox: async ({ gonebox }, use) => {
        const mailbox = await gonebox.createMailbox();
        await use(mailbox);
        await mailbox.destroy().catch(() => undefined); // it may have ended in the test
    },
});
