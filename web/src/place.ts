// Where the page is shown, as the document of the server says: data-page and data-profile of its root element.
import { base } from "./base";

const { page = "", profile = "" } = globalThis.document?.documentElement.dataset ?? {};

/** isInboxPort is set on the port of the Mailpit API, whose page at / is the inbox. The API of Gonebox has another path there. */
export const isInboxPort = page === "inbox";

/** isDev is set where the service runs with profile: dev and takes this browser to be local. */
export const isDev = profile === "dev";

/** apiBase goes before the paths of the API. */
export const apiBase = base + (isInboxPort ? "/gonebox" : "");
