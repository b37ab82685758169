// Is compiled with the types that openapi-typescript generates from the OpenAPI document.
import type { components, operations, paths } from "./schema.js";

type Ok<O extends keyof operations, S extends keyof operations[O]["responses"]> = operations[O]["responses"][S] extends {
  content: { "application/json": infer B };
}
  ? B
  : never;

export function subject(answer: Ok<"getMessage", 200>): string {
  return answer.data.subject; // data is never null here
}

export function code(answer: Ok<"getLatestOtp", 200> | Ok<"getKeyLatestOtp", 200>): string {
  return answer.data.code; // nor here: without a code it is 404
}

export function link(answer: Ok<"getMessage", 200>): string | undefined {
  return answer.data.bestLink ?? undefined; // null where there is none
}

// @ts-expect-error: an answer has no other fields, so a misspelt name is found
export const misspelt = (m: components["schemas"]["MessageSummary"]) => m.subjekt;

export type Public = paths["/api/v1/plans"]["get"];
