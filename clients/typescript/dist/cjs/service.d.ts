/** A running service. */
export interface Service {
    url: string;
    /** HOST:PORT for the mail of the application under test: any address, any user and password. Empty with GONEBOX_URL. */
    smtp: string;
    /** Ends the service, if this process started it. */
    stop(): Promise<void>;
}
/**
 * Returns the service that GONEBOX_URL names, or starts one: `gonebox serve --dev` on free ports with a temporary data
 * folder. The binary is the one that GONEBOX_BINARY names, else `gonebox` on the PATH.
 */
export declare function startService(): Promise<Service>;
