import { Gonebox, type Mailbox } from "./index.js";
import { type Service } from "./service.js";
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
export declare const test: import("@playwright/test").TestType<import("@playwright/test").PlaywrightTestArgs & import("@playwright/test").PlaywrightTestOptions & TestFixtures, import("@playwright/test").PlaywrightWorkerArgs & import("@playwright/test").PlaywrightWorkerOptions & WorkerFixtures>;
