// Writes the documentation page's parts that come from a package into internal/webui/docs, packed, or with --check tells
// whether they are there as they should be. What is compared is the content, not the packing, which differs between
// releases of zlib: a file whose content is right is left alone.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { check, read, stale } from "./files.mjs";

const source = new URL("../node_modules/swagger-ui-dist/", import.meta.url);
const target = new URL("../../internal/webui/docs/", import.meta.url);

// Each built file with the files of the package that it is made of.
const parts = {
  "swagger-ui-bundle.js": ["swagger-ui-bundle.js"],
  "swagger-ui.css": ["swagger-ui.css"],
  "swagger-ui.LICENSE.txt": ["NOTICE", "LICENSE", "swagger-ui-bundle.js.LICENSE.txt"],
};

const want = (names) => {
  const text = names.map((name) => readFileSync(new URL(name, source), "utf8")).join("\n");
  // The maps are not served, so a page must not point to them.
  return Buffer.from(text.replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/gm, ""));
};

const unpacked = (file) => {
  try {
    return gunzipSync(read(file));
  } catch {
    return Buffer.alloc(0); // missing or damaged
  }
};

for (const [name, names] of Object.entries(parts)) {
  const file = fileURLToPath(new URL(name + ".gz", target));
  const content = want(names);
  if (unpacked(file).equals(content)) continue;
  stale(file, "make web");
  if (!check) writeFileSync(file, gzipSync(content, { level: 9 }));
}
