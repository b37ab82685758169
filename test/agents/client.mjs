// The official TypeScript client of the protocol as a program. It prints the tools of a server, and then a line with the
// result of each call that it reads from a line. The client refuses results that break the schema of their tool.
//
//   node client.mjs http URL [CREDENTIAL]
//   node client.mjs stdio COMMAND [ARGUMENT...]

import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, ...rest] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: rest[0] ? { Authorization: `Bearer ${rest[0]}` } : {} } })
    : new StdioClientTransport({ command: target, args: rest });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");
print(await client.listTools());
for await (const line of createInterface({ input: process.stdin })) {
  try {
    print({ result: await client.callTool(JSON.parse(line), undefined, { timeout: 120_000 }) });
  } catch (error) {
    print({ error: String(error) });
  }
}
await client.close();
