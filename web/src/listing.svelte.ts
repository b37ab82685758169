// A list that the server gives page by page. What is called here may be called in an effect: the state that it reads and changes
// itself is not what the effect depends on, or the effect would run again and call the service without end.
import { untrack } from "svelte";
import type { Listed } from "./api/account";
import { type ApiError, failure } from "./api/client";

export class Listing<T> {
  items = $state<T[]>([]);
  state = $state<"loading" | "ready" | "failed">("loading");
  error = $state<ApiError | null>(null);
  next = $state<string | null>(null);

  constructor(readonly page: (cursor: string | null) => Promise<Listed<T>>) {
    void this.load();
  }

  #loads = 0;

  /**
   * load reads the first page anew; what is shown stays until it is there. Of several loads at once, as when a search
   * begins before the whole list has come, only the last one's answer counts, whatever the order in which they come.
   */
  load = (): Promise<void> => {
    const load = ++this.#loads;
    return untrack(() => this.#read(null, () => load === this.#loads));
  };

  /** more reads the page behind the last, which counts only if the list is still the one that it continues. */
  more = (): Promise<void> => {
    return untrack(() => {
      const continued = this.items;
      return this.#read(this.next, () => this.items === continued);
    });
  };

  async #read(cursor: string | null, counts: () => boolean): Promise<void> {
    try {
      const page = await this.page(cursor);
      if (!counts()) return;
      this.items = cursor ? [...this.items, ...page.data] : page.data;
      this.next = page.nextCursor;
      this.state = "ready";
      this.error = null;
    } catch (thrown) {
      if (!counts()) return;
      this.error = failure(thrown);
      if (this.state === "loading") this.state = "failed";
    }
  }
}

/** Task is something that one press does: busy while it runs, with the problem where it did not work. */
export class Task {
  busy = $state(false);
  error = $state<ApiError | null>(null);

  /** run returns whether it worked; it does nothing while it is busy. */
  run(work: () => Promise<unknown>): Promise<boolean> {
    return untrack(() => this.#run(work));
  }

  async #run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = null;
    try {
      await work();
      return true;
    } catch (thrown) {
      this.error = failure(thrown);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
