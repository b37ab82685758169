// Calls a Cloudflare Email Worker, whose module is the first argument, as Cloudflare does: once for each line of JSON on standard input,
// {from, to, file}. It prints what came of each mail: {"done": true}, {"rejected": reason} or {"thrown": message}.
import { createReadStream, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

const worker = (await import(pathToFileURL(process.argv[2]))).default;

for await (const line of createInterface({ input: process.stdin })) {
  const { from, to, file } = JSON.parse(line);
  let rejected;
  const message = {
    from, to, headers: new Headers(), raw: Readable.toWeb(createReadStream(file)), rawSize: statSync(file).size,
    setReject(reason) { rejected = reason; },
    forward() { throw new Error("no mail is forwarded"); },
    reply() { throw new Error("no mail is answered"); },
  };
  let outcome;
  try {
    await worker.email(message, {}, { waitUntil() {} });
    outcome = rejected === undefined ? { done: true } : { rejected };
  } catch (error) {
    outcome = { thrown: error.message };
  }
  console.log(JSON.stringify(outcome));
}
