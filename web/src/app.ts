import "./app.css";
import { mount } from "svelte";
import { at } from "./base";
import { clock } from "./clock.svelte";
import Root from "./components/Root.svelte";
import { page } from "./page.svelte";
import { isInboxPort } from "./place";
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
const keep = () => void navigator.serviceWorker.register(at("/sw.js")).catch(() => {});
if ("serviceWorker" in navigator && !isInboxPort) {
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep);
}
