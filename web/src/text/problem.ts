import type { ApiError } from "../api/client";
import type { Catalogue } from "./languages/en";

/** explain says in a sentence what was refused and what to do; seconds is how long to wait. */
export function explain(t: Catalogue, error: ApiError, name = "", seconds = error.retryAfter): string {
  switch (error.code) {
    case "mailbox.local_part_taken":
      return t.taken(name);
    case "mailbox.local_part_reserved":
      return t.reserved(name);
    case "mailbox.domain_unavailable":
      return t.domainGone;
    case "mailbox.limit_reached":
      return t.limitReached;
    case "mailbox.lifetime_exceeded":
      return t.extendFailed;
    case "request.invalid":
      return t.badName;
    case "rate.limited":
      return seconds > 0 ? t.tooMany(seconds) : "";
    case "access.closed":
      return t.guestsOff;
    case "network":
      return t.noNetwork;
    default:
      return t.failed;
  }
}
