// The application under test: it sends mail over SMTP, and receives webhooks.
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { type Service } from "gonebox/service";

const run = promisify(execFile);

export const send = (service: Service, to: string, ...flags: string[]) => run(process.env.GONEBOX_BINARY!, ["send", "--server", service.smtp, "--to", to, ...flags]);

/** Receives webhooks; the event is the first of the wanted type. */
export async function receiver(type: string): Promise<{ url: string; event: Promise<{ data: { code: string } }> }> {
  let arrived: (event: { data: { code: string } }) => void;
  const event = new Promise<{ data: { code: string } }>((resolve) => (arrived = resolve));
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    response.writeHead(204).end();
    const got = JSON.parse(body);
    if (got.type === type) arrived(got);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, event };
}
