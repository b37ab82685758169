import { defineConfig } from "cypress";
import { setupNodeEvents } from "gonebox/cypress";

export default defineConfig({ e2e: { baseUrl: "http://localhost:3000", setupNodeEvents } });

// Together with what a project sets up itself.
export const other = defineConfig({
  e2e: {
    async setupNodeEvents(on, config) {
      on("task", { hello: () => null });
      return setupNodeEvents(on, config);
    },
  },
});
