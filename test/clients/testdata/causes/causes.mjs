// Waits for what each case says, all at once, and prints what the error of each says.
import { readFileSync } from "node:fs";
import { Gonebox } from "gonebox";

const waits = { code: "waitForCode", link: "waitForLink", message: "waitForMessage" };
const results = await Promise.all(JSON.parse(readFileSync(0, "utf8")).map(async ({ name, url, credential, account, for: what, options }) => {
  const gonebox = new Gonebox(url, account ? credential : undefined);
  const source = account ? gonebox : await gonebox.openMailbox(credential);
  try {
    await source[waits[what]]({ ...options, timeout: 5000 });
  } catch (error) {
    return { name, code: error.code, message: error.message, causes: error.diagnosis?.causes.map((cause) => cause.code) ?? [] };
  }
  return { name, code: "found" };
}));
console.log(JSON.stringify(results));
