/** What sends an event: a signal, the document, or the window, which unit tests have as globalThis. */
type Target = Pick<EventTarget, "addEventListener" | "removeEventListener">;

/** abortOn returns a signal that is aborted by the first of some events, and done, which removes the listeners. */
export function abortOn(...events: [target: Target, type: string][]): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const [target, type] of events) target.addEventListener(type, abort);
  return {
    signal: controller.signal,
    done() {
      for (const [target, type] of events) target.removeEventListener(type, abort);
    },
  };
}
