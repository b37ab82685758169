import { mount } from "svelte";
import { clock } from "./clock.svelte";
import Root from "./components/Root.svelte";
import { page } from "./page.svelte";
import { route } from "./route.svelte";
import { text } from "./text/text.svelte";

await text.start();
clock.start();
page.start();
route.start();
const target = document.querySelector("#app")!;
target.replaceChildren();
mount(Root, { target });

// Once the page is there, it is kept for a time without network.
const keep = () => void navigator.serviceWorker.register("/sw.js").catch(() => {});
if ("serviceWorker" in navigator) {
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep);
}
