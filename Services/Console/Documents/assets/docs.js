// Shows the description of the API. Where data-try is missing, nothing can be sent from the page.

const place = document.getElementById("reference");
const methods = "try" in place.dataset ? ["get", "put", "post", "delete"] : [];
place.classList.toggle("reading", methods.length === 0);

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

SwaggerUIBundle({
  url: "/openapi.yaml",
  domNode: place,
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  layout: "BaseLayout",
  presets: [SwaggerUIBundle.presets.apis],
  supportedSubmitMethods: methods,
  validatorUrl: null,
});
