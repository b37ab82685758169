// Keeps the page usable without a network: the page itself, and the files it has loaded. Answers of the API are not kept
// here; what the page showed last is in its own storage.
const base = new URL(".", location).pathname; // where the page is: /, or /mail/ with a path in base_url
const kept = `gonebox-1${base.slice(0, -1)}`;
const shell = ["", "theme.js", "start.js", "favicon.svg", "favicon-new.svg", "manifest.webmanifest"].map((name) => base + name);
const isDrawn = (pathname) => pathname.startsWith(base) && /^((sign-in|register|reset|account|inbox|pages|prices|staff)(\/.*)?)?$/.test(pathname.slice(base.length)); // by the page
const isHashed = (pathname) => pathname.startsWith(`${base}assets/`);

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function keepShell() {
  const cache = await caches.open(kept);
  await cache.addAll(shell);
  const page = await (await cache.match(base)).text();
  await cache.addAll([...page.matchAll(/(?:src|href|data-file)="([^"]*\/assets\/[^"]+)"/g)].map((match) => match[1]));
}

// A new release has new names for its assets; those of the last one are dropped with its page.
async function replacePage(answer) {
  const cache = await caches.open(kept);
  const [before, now] = await Promise.all([cache.match(base).then((old) => old?.text()), answer.clone().text()]);
  if (before === now) return;
  await cache.put(base, answer);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (isHashed(pathname) && !now.includes(pathname)) await cache.delete(request);
  }
  await keepShell();
}

async function pageOf(event) {
  try {
    const answer = await fetch(event.request);
    if (answer.ok) event.waitUntil(replacePage(answer.clone()).catch(() => {}));
    return answer;
  } catch (error) {
    const last = await caches.match(base);
    if (last) return last;
    throw error;
  }
}

async function assetOf(request) {
  const known = await caches.match(request);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(kept)).put(request, answer.clone());
  return answer;
}

const fileOf = (request) => fetch(request).catch(async (error) => (await caches.match(request)) ?? Promise.reject(error));

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin) return;
  if (event.request.mode === "navigate" && isDrawn(pathname)) event.respondWith(pageOf(event));
  else if (isHashed(pathname)) event.respondWith(assetOf(event.request));
  else if (shell.includes(pathname)) event.respondWith(fileOf(event.request));
});
