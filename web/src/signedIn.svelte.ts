// The sign-in of this device: a user token, kept until it is revoked.
import { boxes } from "./boxes.svelte";
import { load, onChange, save } from "./store";

type Role = "user" | "staff";
type Saved = { token: string; email: string; role?: Role };

class SignedIn {
  token = $state("");
  email = $state("");
  /** role is what the server said last; it decides which links are shown, and the server what may be done. */
  role = $state<Role>("user");
  /** lapsed is set when the server no longer took the token. */
  lapsed = $state(false);

  constructor() {
    this.#restore();
    onChange("account", () => this.#restore());
  }

  #restore(): void {
    const saved = load<Saved>("account");
    this.token = saved?.token ?? "";
    this.email = saved?.email ?? "";
    this.role = saved?.role ?? "user";
  }

  keep(token: string, email: string, role: Role = "user"): void {
    this.token = token;
    this.email = email;
    this.role = role;
    this.lapsed = false;
    save("account", { token, email, role } satisfies Saved);
  }

  /** leave forgets the token and the account's mailboxes. */
  leave(lapsed = false): void {
    this.keep("", "");
    this.lapsed = lapsed;
    boxes.putAway();
  }
}

export const signedIn = new SignedIn();
