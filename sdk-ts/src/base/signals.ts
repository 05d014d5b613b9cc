// Listening to the signals of callers: one listener for each signal, however much waits for it, and none afterwards.

const waiting = new WeakMap<AbortSignal, { readonly calls: Set<() => void>; readonly listener: () => void }>();

/**
 * Calls `then` once when the signal fires, unless what is returned is called before. A signal that has fired already
 * calls nobody. Thousands of waits on one signal are one listener, so that no warning about many of them comes.
 */
export function onAbort(signal: AbortSignal, then: () => void): () => void {
  let entry = waiting.get(signal);
  if (!entry) {
    const calls = new Set<() => void>();
    const listener = (): void => {
      waiting.delete(signal);
      for (const call of [...calls]) call();
    };
    entry = { calls, listener };
    waiting.set(signal, entry);
    signal.addEventListener("abort", listener, { once: true });
  }
  const { calls, listener } = entry;
  const call = (): void => then();
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size > 0 || waiting.get(signal)?.calls !== calls) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}
