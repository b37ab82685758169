/** The events of a mailbox: Server-Sent Events, resumed after each interruption. */
import { type Http } from "./http.js";
/** Stops the delivery of events when it is called. */
export interface Subscription {
    (): void;
    /** Resolves when events can no longer be missed. */
    readonly ready: Promise<void>;
}
/** @internal */
export declare class Stream {
    #private;
    /** @param newest finds the id of the message after which the events begin */
    constructor(http: () => Http, newest: () => Promise<string>);
    start(event: string, handler: (data: never) => void): Subscription;
}
