// The first mailbox, which start.js requests before this program has loaded. Its response is used once.
import type { ApiResponse, Mailbox } from "./api/client";

/** Created is the first mailbox; date is the Date field of the response, and sent is performance.now() before the request. */
type Created = { mailbox: Mailbox; date: string | null; sent: number };
type First = { call?: Promise<{ status: number; retryAfter: string | null; text: string }>; made?: Created };

const first = (globalThis as { goneboxFirst?: First }).goneboxFirst;

/** earlyMailbox returns the first mailbox if start.js already has it and it has not been used. */
export function earlyMailbox(): Created | null {
  if (!first?.made || !first.call) return null;
  delete first.call;
  return first.made;
}

/** earlyResponse returns the response to the request that start.js has made, or makes the request itself. */
export async function earlyResponse<T>(request: () => Promise<ApiResponse<T>>): Promise<ApiResponse<T>> {
  const pending = first?.call;
  delete first?.call;
  const early = await pending;
  if (!early) return request();
  const { status, retryAfter, text } = early;
  const response = new Response(text, { status, headers: retryAfter ? { "Retry-After": retryAfter } : {} });
  const body: unknown = await response.json().catch(() => null);
  return response.ok ? { data: body as T, response } : { error: body, response };
}
