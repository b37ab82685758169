// The configuration of the recipe, with the browser of this machine.
import config from "./playwright.config";

export default { ...config, use: { ...config.use, launchOptions: { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] } } };
