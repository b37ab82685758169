// What the builders share: comparing what they make with what is committed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** check is set where nothing may be written: a file that differs is an error then. */
export const check = process.argv.includes("--check");

/** read returns a file's content, or an empty buffer where it is missing. */
export const read = (file) => {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
};

/** stale reports a file that should be written anew, or fails the check. */
export const stale = (file, command) => {
  const name = relative(root, file);
  if (check) {
    console.error(`${name} is not what web/ builds: run ${command}`);
    process.exitCode = 1;
  } else {
    console.log(`wrote ${name}`);
  }
};

/** put writes a file unless its content is right already. */
export const put = (file, content, command) => {
  if (read(file).equals(content)) return;
  stale(file, command);
  if (check) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
};
