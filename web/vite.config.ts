import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { tags } from "./build/languages.mjs";

// The program is imported once the first address stands in the page; it is fetched before.
const preload: Plugin = {
  name: "preload",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle }) {
      const chunks = Object.values(bundle ?? {}).filter((file) => file.type === "chunk");
      const app = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith("/src/app.ts"));
      if (!app) return html; // npm run dev
      const files = [app.fileName, ...app.imports].filter((name) => !html.includes(name));
      return files.map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: "", href: `/${name}` }, injectTo: "head" as const }));
    },
  },
};

// theme.js chooses among the languages that there are, and fetches the file of the one it has chosen.
const languages: Plugin = {
  name: "languages",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle }) {
      const chunks = Object.values(bundle ?? {}).filter((file) => file.type === "chunk");
      return tags().map((tag: string) => {
        const file = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/languages/${tag}.ts?page`))?.fileName;
        return { tag: "meta", attrs: { name: "language", content: tag, ...(file && { "data-file": `/${file}` }) }, injectTo: "head-prepend" as const };
      });
    },
  },
};

// What the visitor's page consists of is one file, which compresses better than what Rolldown would share between pages.
const later = /components\/(account|staff|DeleteBox|NewBox|QrCode|UseInCode|Notices|KeysHelp|LinkHead)|text\/(account|staff|money|link)|languages\/.*\?(page|account|staff|link)|api\/(account|staff)|\/(app|main|first|listing\.svelte|snippets|linked|verification)\.ts/;
const visitor = (id: string) => /\/(web\/src|node_modules\/(svelte|esm-env|openapi-fetch))\//.test(id) && !/\.css/.test(id) && !later.test(id);

// The names of the assets have a hash of their content, so that a browser may keep them for as long as it likes.
export default defineConfig({
  plugins: [tailwindcss(), svelte(), languages, preload],
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy allows no data: scripts and styles
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "first", test: /src\/first\.ts|preload-helper/, priority: 1 }, { name: "visitor", test: visitor }] },
        entryFileNames: "assets/main-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  // make run serves the API that `npm run dev` shows.
  server: { proxy: { "/api": "http://localhost:8080", "/docs": "http://localhost:8080" } },
  test: { include: ["src/**/*.test.ts"] },
});
