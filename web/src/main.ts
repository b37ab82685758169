// Loading and drawing the program keeps the browser busy, so the first address goes before it (start.js).
import "./app.css";
import { shown } from "./first";

const patience = 1000; // milliseconds
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
const late = new Promise((resolve) => setTimeout(resolve, document.hidden ? 0 : patience));
void Promise.race([shown().then(painted), late]).then(() => import("./app"));
