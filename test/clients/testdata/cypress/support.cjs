require("gonebox/cypress");
