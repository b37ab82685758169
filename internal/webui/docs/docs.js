// Draws the OpenAPI document of this very server. Nothing is asked of any other: the page works offline.
SwaggerUIBundle({
  url: "/api/v1/openapi.json",
  dom_id: "#ui",
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
