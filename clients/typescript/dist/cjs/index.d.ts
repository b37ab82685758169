/**
 * Client of Gonebox, a disposable mailbox service. It uses nothing but `fetch`, so it runs in Node 20 and later, in
 * browsers and in Deno. Times are in milliseconds.
 */
import { GoneboxError, Http } from "./http.js";
import { type Subscription } from "./stream.js";
export { GoneboxError, type Subscription };
/** The name and address of a sender or recipient. */
export type Address = {
    name: string;
    address: string;
};
/** A one-time code: `code` is ready to be typed in, `display` as it is written, `links` are best first, `confidence` is from 0 to 1. */
export type Otp = {
    code: string;
    display: string;
    messageId: string;
    confidence: number;
    kind: string;
    links: string[];
};
/** What a list shows of a message. Times are RFC 3339. */
export interface Summary {
    id: string;
    mailboxId: string;
    from: Address;
    to: Address[];
    subject: string;
    preview: string;
    receivedAt: string;
    sentAt: string | null;
    size: number;
    seen: boolean;
    hasAttachments: boolean;
    otp: Otp | null;
}
/** A file in a message, whose content {@link Mailbox.attachment} reads; not `available` above the size limit of the service. */
export type Attachment = {
    id: string;
    filename: string;
    contentType: string;
    size: number;
    sha256: string;
    inline: boolean;
    contentId: string | null;
    available: boolean;
};
/** A whole message. Its HTML is sanitized by the service. */
export interface Message extends Summary {
    cc: Address[];
    replyTo: Address[];
    messageId: string | null;
    headers: {
        name: string;
        value: string;
    }[];
    text: string;
    html: string | null;
    attachments: Attachment[];
    links: string[];
}
/** What a message may have. */
export type Has = "code" | "link" | "attachment";
/** Restricts messages. `from` and `subject` are parts of the sender and the subject, in any case; `after` is the id of a message. */
export type Filter = {
    from?: string;
    subject?: string;
    has?: Has | Has[];
    unseen?: boolean;
    after?: string;
};
/** Restricts what is waited for, and for how long: 30 seconds if `timeout` is absent. */
export type WaitOptions = Filter & {
    timeout?: number;
};
/** How a mailbox is made. What is absent is chosen by the service, which counts `ttl` in whole seconds, 60 at least. */
export type MailboxOptions = {
    domain?: string;
    localPart?: string;
    ttl?: number;
};
/** A message to put into a mailbox without SMTP. `from` is `address` or `Name <address>`; text as `content` is base64. */
export interface Draft {
    from?: string;
    subject?: string;
    text?: string;
    html?: string;
    attachments?: {
        filename: string;
        contentType?: string;
        content: string | Uint8Array;
    }[];
}
/** What {@link Mailbox.on} passes for each event. */
export interface Events {
    message: Summary;
    seen: {
        id: string;
        seen: boolean;
    };
    deleted: {
        id: string;
    };
    mailbox: {
        expiresAt: string;
        ttl: number;
    };
    end: {
        reason: string;
    };
}
type MailboxData = {
    id: string;
    address: string;
    token?: string;
    expiresAt: string;
};
/** A Gonebox service. */
export declare class Gonebox {
    #private;
    readonly url: string;
    /**
     * @param url the address of the service, such as http://localhost:8080
     * @param key a developer key (`x_…`) or user token (`xu_…`); without one, mailboxes are made anonymously
     */
    constructor(url: string, key?: string);
    /** Makes a mailbox. It ends by itself after its `ttl`, or with {@link Mailbox.destroy}. */
    createMailbox(options?: MailboxOptions): Promise<Mailbox>;
    /** Opens the mailbox that a mailbox token (`xm_…`) belongs to. */
    openMailbox(token: string): Promise<Mailbox>;
    /** Calls any other operation of the API, such as `POST /me/webhooks`, and returns the `data` of its answer. */
    request<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
}
/** A mailbox, as {@link Gonebox.createMailbox} returns it. */
export declare class Mailbox {
    #private;
    readonly id: string;
    readonly address: string;
    /** Opens this mailbox and nothing else. */
    token: string;
    expiresAt: Date;
    /** @internal */
    constructor(http: Http, data: MailboxData);
    /** Waits for a message with a one-time code and returns the code. A message that is already there counts. */
    waitForCode(options?: WaitOptions): Promise<string>;
    /** Waits for a message with a link and returns the link: the one that signs in, confirms or resets, else the first. */
    waitForLink(options?: WaitOptions): Promise<string>;
    /** Waits for a message that matches and returns it whole. A message that is already there counts; the newest wins. */
    waitForMessage(options?: WaitOptions): Promise<Message>;
    /** Resolves if no message that matches arrives within `timeout` (3 seconds if absent) nor is there already; else throws. */
    expectNoMessage(options?: WaitOptions): Promise<void>;
    /** Lists the messages that match, newest first. */
    messages(filter?: Filter & {
        limit?: number;
    }): Promise<Summary[]>;
    /** Reads a message, which marks it as seen. */
    message(messageId: string): Promise<Message>;
    /** Deletes a message. */
    deleteMessage(messageId: string): Promise<void>;
    /** Reads the octets of an attachment. */
    attachment(messageId: string, attachmentId: string): Promise<Uint8Array>;
    /** Reads a message as it was received. The service keeps this for a short time only. */
    raw(messageId: string): Promise<Uint8Array>;
    /** Puts a message into the mailbox as if it had been received: its parts, or a whole message of RFC 5322 as text or octets. */
    inject(message: Draft | string | Uint8Array): Promise<Message>;
    /** Lets the mailbox live for `ttl` milliseconds from now, or for the default time of its plan. */
    extend(options?: {
        ttl?: number;
    }): Promise<this>;
    /** Ends the mailbox and erases its messages. Its address is not given to others for some time. */
    destroy(): Promise<void>;
    /**
     * Calls `handler` for each event from now on, across interruptions of the connection.
     * @returns a function that stops this; its `ready` resolves when events can no longer be missed
     */
    on<E extends keyof Events>(event: E, handler: (data: Events[E]) => void): Subscription;
}
