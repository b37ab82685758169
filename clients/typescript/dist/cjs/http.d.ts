/** An error of the service or of this client. `code` tells which; errors of the client begin with `client.` or `wait.`. */
export declare class GoneboxError extends Error {
    readonly name = "GoneboxError";
    readonly code: string;
    readonly status?: number;
    /** Finds the call in the log of the service. */
    readonly traceId?: string;
    /** Seconds after which to try again. */
    readonly retryAfter?: number;
    constructor(code: string, message: string, { cause, ...more }?: {
        status?: number;
        traceId?: string;
        retryAfter?: number;
        cause?: unknown;
    });
}
export declare const pause: (milliseconds: number) => Promise<void>;
/** Sends calls with one credential. */
export declare class Http {
    #private;
    readonly url: string;
    readonly key: string | undefined;
    constructor(url: string, key?: string);
    /** The same service with another credential. */
    with(key: string): Http;
    /** The `data` of the answer. */
    json<T>(method: string, path: string, body?: unknown, type?: string): Promise<T>;
    /** The octets of a download. */
    octets(path: string): Promise<Uint8Array>;
    /** A page of a list. */
    page<T>(path: string, wait?: number): Promise<{
        data: T[];
        nextCursor: string | null;
    }>;
    /** Sends a call and returns the answer, or throws what the service says against it. */
    send(method: string, path: string, more?: {
        body?: unknown;
        type?: string;
        wait?: number;
        headers?: Record<string, string>;
        signal?: AbortSignal;
    }): Promise<Response>;
}
