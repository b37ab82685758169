// The sign-in of this device: a user token, kept until it is revoked.
import { boxes } from "./boxes.svelte";
import { load, onChange, save } from "./store";

type Role = "user" | "staff";
type Saved = { token: string; email: string; role?: Role };

class SignedIn {
  token = $state("");
  email = $state("");
  /** typed is the e-mail address that a form of the sign-in has, for the next one. */
  typed = "";
  /** role is what the server said last; it decides which links are shown, and the server what may be done. */
  role = $state<Role>("user");
  /** ending is why the sign-in ended, where it was not the user who signed out: the server no longer took the token, or the account is deleted. */
  ending = $state<"" | "lapsed" | "deleted">("");

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
    this.ending = "";
    save("account", { token, email, role } satisfies Saved);
  }

  /** leave forgets the token and the account's mailboxes. */
  leave(ending: "" | "lapsed" | "deleted" = ""): void {
    this.keep("", "");
    this.ending = ending;
    boxes.removeAccountBoxes();
  }
}

export const signedIn = new SignedIn();
