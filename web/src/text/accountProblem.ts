import type { ApiError } from "../api/client";
import type { AccountCatalogue, Catalogue } from "./languages/en";
import { explain } from "./problem";

/** explainIn says in a sentence what was refused on an account's page and what to do; name is a local part in question. */
export function explainIn(t: Catalogue, account: AccountCatalogue, error: ApiError, name = ""): string {
  const known = account.problems[error.code];
  if (known) return known;
  if (error.code === "rate.limited") return account.tooManyCalls(Math.max(1, error.retryAfter));
  return explain(t, error, name);
}
