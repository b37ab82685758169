// Gets the first address while the page's program is still on its way: the guest session and the mailbox are asked for, in
// turn, before anything is drawn, and the address stands in the page as soon as it is known. What was answered is kept for
// web/src/first.ts, from which the program takes it. Where this device has a mailbox already, it is shown without a request.
(() => {
  if (location.pathname !== "/") return;
  let saved = null;
  try {
    saved = JSON.parse(localStorage.getItem("gonebox.boxes"));
  } catch {
    // Storage is forbidden.
  }
  const first = { calls: {}, shown: false };
  window.goneboxFirst = first;

  const show = ({ localPart, domain }) => {
    const heading = document.querySelector(".skeleton h1");
    if (heading) {
      heading.replaceChildren(...[localPart, document.createElement("wbr"), "@" + domain].map((part) => {
        if (typeof part !== "string") return part;
        const span = document.createElement("span");
        span.textContent = part;
        return span;
      }));
      heading.className = "known";
      first.shown = true;
    } else if (document.readyState === "loading") {
      requestAnimationFrame(() => show({ localPart, domain }));
    }
  };

  const isLive = (box) => box && !box.ended && Date.parse(box.expiresAt) > Date.now();
  const boxes = saved?.boxes ?? [];
  const box = boxes.find((one) => one.id === saved.active);
  const known = isLive(box) ? box : boxes.find(isLive);
  if (known) {
    show(known);
    return;
  }

  // The browser is busy with the page, and a request of this older kind comes back to the script with fewer turns than fetch.
  const post = (path, headers, body) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", "/api/v1" + path);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.onload = () => resolve({ status: request.status, retryAfter: request.getResponseHeader("Retry-After"), text: request.responseText });
      request.onerror = () => reject(new Error("no answer"));
      request.send(body);
    });
  const session = saved?.session ? Promise.resolve(saved.session) : (first.calls.session = post("/session", {})).then(({ status, text }) => (status === 201 ? JSON.parse(text).data.key : ""));
  first.calls.mailbox = session.then(async (key) => {
    if (!key) return null; // the program asks for itself, and says what is wrong
    const answer = await post("/mailboxes", { Authorization: "Bearer " + key, "Content-Type": "application/json" }, "{}");
    if (answer.status === 201) show(JSON.parse(answer.text).data);
    return answer;
  });
  for (const call of Object.values(first.calls)) call.catch(() => {}); // the program reports it
})();
