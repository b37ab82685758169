// Reads the mail of two projects, makes and deletes a third, and prints what it saw.
import { Gonebox, Project } from "gonebox";

const { URL: url, KEY: key, NAME: name } = process.env;
const gonebox = new Gonebox(url, key || undefined);
const [one, two] = [await gonebox.project(`${name}-one`), await gonebox.project(`${name}-two`)];
const codes = [await one.waitForCode({ to: "shared@" }), await two.waitForCode({ to: "shared@" }), await two.waitForCode({ to: "other@" })];
const others = await one.messages({ to: "other@" });
const fresh = await gonebox.project(`${name}-new`);
await fresh.inject({ subject: "injected", text: "hello" });
const isProject = fresh instanceof Project && !!fresh.smtp.password && !one.smtp.password && one.smtp.username === `${name}-one`;
const projects = (await gonebox.messages({ q: "injected" }).catch(() => [{ project: fresh.name }])).map((m) => m.project); // it needs a key
await fresh.destroy();
const gone = await fresh.messages().then(() => "there", (error) => error.code);
console.log([...codes, others.length, isProject, projects.every((p) => p === fresh.name), gone].join(" "));
