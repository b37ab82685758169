// Gets the first address while the page's program is still on its way: the mailbox is asked for before anything is drawn, and the
// address stands in the page as soon as it is known. What was answered is kept for web/src/first.ts, from which the program takes
// it. Where this device has a mailbox already, it is shown without a request.
(() => {
  const base = document.querySelector("meta[name=base]").content; // the path of base_url, see web/src/base.ts
  // A file of the page that is gone is one of an older release, so the page is loaded anew: once for each release, and not
  // where somebody is writing.
  const release = () => document.querySelector("meta[name=program]")?.dataset.file;
  const reload = () => {
    const writing = document.querySelector("dialog[open]") || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
    if (!navigator.onLine || writing) return;
    try {
      if (sessionStorage.getItem("gonebox.reloaded") === release()) return;
      sessionStorage.setItem("gonebox.reloaded", release());
    } catch {
      return; // storage is forbidden: it might load for ever
    }
    location.reload();
  };
  addEventListener("vite:preloadError", reload);
  addEventListener("error", ({ target }) => /\/assets\//.test(target?.src ?? target?.href) && reload(), true);

  // The program, whose files the page names.
  let begun = false;
  const loadProgram = () => {
    if (begun) return;
    begun = true;
    const files = `meta[name=program], meta[name=language][content="${document.documentElement.lang}"]`; // theme.js sets the language
    for (const { content: kind, dataset } of document.querySelectorAll(files)) {
      const loaded =
        kind === "module"
          ? Object.assign(document.createElement("script"), { type: "module", crossOrigin: "", src: dataset.file })
          : Object.assign(document.createElement("link"), { rel: "preload", as: kind === "style" ? kind : "script", crossOrigin: "", href: dataset.file });
      document.head.append(loaded);
    }
  };
  // Loading it keeps the browser busy, so what is shown first is painted before it, unless that takes its time.
  const patience = 400; // milliseconds
  const painting = 30; // milliseconds
  const loadLater = () => requestAnimationFrame(() => setTimeout(loadProgram, painting));
  if ((location.pathname !== `${base}/` && location.pathname !== base) || document.documentElement.dataset.page === "inbox") {
    addEventListener("DOMContentLoaded", loadProgram);
    return;
  }
  setTimeout(loadProgram, patience);
  let saved = null;
  try {
    saved = JSON.parse(localStorage.getItem(`gonebox${base}.boxes`));
  } catch {
    // Storage is forbidden.
  }
  const first = {};
  window.goneboxFirst = first;

  const show = ({ localPart, domain }, then) => {
    const heading = document.querySelector(".skeleton h1");
    if (heading) {
      heading.replaceChildren(...[localPart, document.createElement("wbr"), "@" + domain].map((part) => {
        if (typeof part !== "string") return part;
        const span = document.createElement("span");
        span.textContent = part;
        return span;
      }));
      heading.className = "known";
      then();
    } else if (document.readyState === "loading") {
      requestAnimationFrame(() => show({ localPart, domain }, then));
    }
  };

  const boxes = saved?.boxes ?? [];
  const isLive = (box) => box && !box.ended; // whether its time is over is for the server to say
  const box = boxes.find((one) => one.id === saved.active);
  const known = isLive(box) ? box : boxes.find(isLive);
  if (known) {
    show(known, loadLater);
    return;
  }

  // The browser is busy with the page, and a request of this older kind comes back to the script with fewer turns than fetch.
  const sent = performance.now();
  first.call = new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${base}/api/v1/mailboxes`);
    request.setRequestHeader("Content-Type", "application/json");
    if (saved?.session) request.setRequestHeader("Authorization", "Bearer " + saved.session);
    request.onload = () => {
      const { status, responseText: text } = request;
      if (status === 201) {
        first.made = { mailbox: JSON.parse(text).data, date: request.getResponseHeader("Date"), sent };
        show(first.made.mailbox, loadLater);
      } else loadLater();
      resolve({ status, retryAfter: request.getResponseHeader("Retry-After"), text });
    };
    request.onerror = () => reject(new Error("no answer"));
    request.send("{}");
  });
  first.call.catch(loadLater); // the program reports it
})();
