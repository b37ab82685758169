const { Gonebox, GoneboxError } = require("gonebox");
const { startService } = require("gonebox/service");
const { test } = require("gonebox/playwright");
console.log([Gonebox, GoneboxError, startService, test].map((f) => typeof f).join(" "));
