import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { tags } from "./build/languages.mjs";

// Loading and drawing the program keeps the browser busy, so the first address goes before it: the page names the files of the
// program, and start.js loads them. The document itself loads the styles that its skeleton needs, and no more.
const program: Plugin = {
  name: "program",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle }) {
      const chunks = Object.values(bundle ?? {}).filter((file) => file.type === "chunk");
      const main = chunks.find(({ isEntry }) => isEntry);
      const app = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith("/src/app.ts"));
      if (!main || !app) return html; // npm run dev
      const scripts = new Set([...main.imports, app.fileName, ...app.imports]);
      const files = [["module", main.fileName], ...[...scripts].map((name) => ["script", name]), ...[...(app.viteMetadata?.importedCss ?? [])].map((name) => ["style", name])];
      return {
        html: html.replace(/\s*<script type="module"[^>]*><\/script>|\s*<link rel="modulepreload"[^>]*>/g, ""),
        tags: files.map(([kind, name]) => ({ tag: "meta", attrs: { name: "program", content: kind, "data-file": `/${name}` }, injectTo: "head-prepend" as const })),
      };
    },
  },
};

// theme.js chooses among the languages that there are, and start.js fetches the file of the one it has chosen.
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
const later = /components\/(account|staff|mails|DeleteBox|NewBox|Reader|HeadersTab|LinkBar|PlainText|QrCode|UseInCode|Notices|MailFrame|AttachmentsTab|SecurityTab|SourceTab|KeysHelp|LinkHead)|text\/(account|staff|money|link|inbox)|languages\/.*\?(page|account|staff|link|inbox)|api\/(account|staff|mails)|\/(app|main|allMail\.svelte|rows|mbox|checks|links|htmlSource|listing\.svelte|snippets|linked|verification|mail|tags)\.ts/;
const visitor = (id: string) => /\/(web\/src|node_modules\/(svelte|esm-env|openapi-fetch))\//.test(id) && !/\.css/.test(id) && !later.test(id);

// The names of the assets have a hash of their content, so that a browser may keep them for as long as it likes.
export default defineConfig({
  plugins: [tailwindcss(), svelte(), languages, program],
  // Scripts and styles find each other from where they are. In the page the server puts the path of base_url before each address.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }) },
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy allows no data: scripts and styles
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "first", test: /preload-helper/, priority: 1 }, { name: "visitor", test: visitor }] },
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
