// What start.js has asked for before this program was there: the guest session and the first mailbox. It is taken once.
import type { Answer } from "./api/client";

type Call = Promise<{ status: number; retryAfter: string | null; text: string } | null>;
type First = { calls: { session?: Call; mailbox?: Call } };

const first = (globalThis as { goneboxFirst?: First }).goneboxFirst;

/** take gives the answer to a call that was made already, or calls itself. */
export async function take<T>(name: keyof First["calls"], call: () => Promise<Answer<T>>): Promise<Answer<T>> {
  const made = first?.calls[name];
  delete first?.calls[name];
  const answer = await made;
  if (!answer) return call();
  const { status, retryAfter, text } = answer;
  const response = new Response(text, { status, headers: retryAfter ? { "Retry-After": retryAfter } : {} });
  const body: unknown = await response.json().catch(() => null);
  return response.ok ? { data: body as T, response } : { error: body, response };
}

/** shown is done once the first address stands in the page, or as soon as it is clear that there will be none. */
export const shown = (): Promise<unknown> => first?.calls.mailbox?.catch(() => {}) ?? Promise.resolve();
