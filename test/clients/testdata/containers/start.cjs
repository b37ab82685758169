const { GoneboxContainer, StartedGoneboxContainer, IMAGE, KEY } = require("gonebox/testcontainers");
console.log(typeof GoneboxContainer, typeof StartedGoneboxContainer, IMAGE, KEY.slice(0, 2));
