// The sign-in of this device: a user token, kept until it is revoked.
import { boxes } from "./boxes.svelte";
import { load, onChange, save } from "./store";

type Saved = { token: string; email: string };

class SignedIn {
  token = $state("");
  email = $state("");
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
  }

  keep(token: string, email: string): void {
    this.token = token;
    this.email = email;
    this.lapsed = false;
    save("account", { token, email } satisfies Saved);
  }

  /** leave forgets the token and the account's mailboxes. */
  leave(lapsed = false): void {
    this.keep("", "");
    this.lapsed = lapsed;
    boxes.putAway();
  }
}

export const signedIn = new SignedIn();
