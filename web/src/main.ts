import { mount } from "svelte";
import "./app.css";
import App from "./components/App.svelte";

const target = document.querySelector("#app")!;
target.replaceChildren();
mount(App, { target });
