// Where the page is served: the path of base_url, which the server writes into the page.

/** base is the path below which everything of the service is, without a slash at its end; "" where there is none. */
export const base = globalThis.document?.querySelector?.<HTMLMetaElement>("meta[name=base]")?.content ?? "";

/** at returns the address of a path of the service on this host. */
export const at = (path: string) => base + path;

/** pathOf returns the path of the service in the path of an address; that of another one is returned as it is. */
export const pathOf = (pathname: string) => (pathname === base || pathname.startsWith(`${base}/`) ? pathname.slice(base.length) || "/" : pathname);
