// Makes fault rules, or says what they did, and prints what it saw.
import { Gonebox } from "gonebox";

const { URL: url, KEY: key, NAME: name, PHASE: phase } = process.env;
const gonebox = new Gonebox(url, key || undefined);
const project = await gonebox.project(name);
const code = (promise) => promise.then(() => "none", (error) => error.code);

if (phase === "add") {
  const rule = await project.faults.add({ stage: "rcpt", reply: "451 4.3.2 Try again later", to: "admin@*", times: 1, delay: 300, for: 600_000 });
  const wide = await gonebox.faults.add({ stage: "message", reply: "552 Too large", from: `*@${name}.example`, project: name, every: 2, perMinute: 9, probability: 0.5, seed: 42, close: true });
  const all = (await gonebox.faults.list()).map(({ id }) => id);
  const own = (await project.faults.list()).map(({ id }) => id);
  const other = await (await gonebox.project(`${name}-other`)).faults.list();
  const ends = Date.parse(rule.endsAt) - Date.parse(rule.createdAt);
  console.log(rule.project === name, rule.stage, rule.reply, rule.to, rule.times, rule.delay / 1000, rule.hits, ends / 1000, rule.from, rule.close);
  console.log(wide.stage, wide.from === `*@${name}.example`, wide.every, wide.perMinute, wide.probability, wide.seed, wide.close, wide.endsAt);
  console.log(all.includes(rule.id) && all.includes(wide.id), own.join() === [rule.id, wide.id].join(), other.length, await code(gonebox.faults.add({ stage: "rcpt" })));
} else {
  const [rule, wide] = await project.faults.list();
  const [refused] = await project.transcripts();
  const count = async (filter) => (await project.transcripts(filter)).length;
  const reply = refused.lines.find(({ from, text }) => from === "server" && text.startsWith("451"));
  console.log(rule.hits, wide.hits, await count(), await count({ since: new Date(Date.parse(refused.at) + 1000) }), await count({ since: "2000-01-01T00:00:00Z", limit: 1 }), reply.text, refused.to.join(), refused.refused);
  const everywhere = await gonebox.transcripts();
  const [message] = await project.messages();
  const dialog = await project.transcript(message.id);
  console.log(everywhere.some(({ at, project }) => at === refused.at && project === name), dialog.refused, dialog.to.join());
  await project.faults.delete(rule.id);
  console.log((await project.faults.list()).length, await code(project.faults.delete(rule.id)));
  const elsewhere = await gonebox.faults.add({ stage: "rcpt", delay: 1000, to: `${name}@sink.example` });
  await project.faults.delete();
  console.log((await project.faults.list()).length, (await gonebox.faults.list()).some(({ id }) => id === elsewhere.id));
  await gonebox.faults.delete();
  console.log((await gonebox.faults.list()).length);
}
