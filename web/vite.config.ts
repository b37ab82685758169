import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// Files keep stable names: they are committed, and the server makes an ETag of their content.
export default defineConfig({
  plugins: [tailwindcss(), svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy allows no data: scripts and styles
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/app.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  // make run serves the API that `npm run dev` shows.
  server: { proxy: { "/api": "http://localhost:8080", "/docs": "http://localhost:8080" } },
  test: { include: ["src/**/*.test.ts"] },
});
