// Draws the OpenAPI document of this very server. Nothing is asked of any other: the page works offline.

// Answers may grow fields, which the document says with additionalProperties. In an example that is noise, so the page
// draws the document without it; what the server says of itself stays as it is.
const quiet = (value) => {
  if (Array.isArray(value)) return value.map(quiet);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === "additionalProperties" && inner === true))
      .map(([key, inner]) => [key, quiet(inner)]),
  );
};

const withoutNoise = () => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: (next) => (document) => next(quiet(document)) } } },
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();

SwaggerUIBundle({
  url: new URL("../api/v1/openapi.json", document.currentScript.src).href,
  dom_id: "#ui",
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [withoutNoise],
});
