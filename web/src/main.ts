// The beginning of the program: start.js loads it once the first address stands in the page, and it loads the rest, styles included.
import "./skeleton.css";

void import("./app");
