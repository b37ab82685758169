import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// The names of the assets have a hash of their content, so that a browser may keep them for as long as it likes.
export default defineConfig({
  plugins: [tailwindcss(), svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy allows no data: scripts and styles
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/app-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  // make run serves the API that `npm run dev` shows.
  server: { proxy: { "/api": "http://localhost:8080", "/docs": "http://localhost:8080" } },
  test: { include: ["src/**/*.test.ts"] },
});
