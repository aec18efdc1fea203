// Waiting for work that several ask for: one asker going away must not take the answer from the others.
// Called by config_file.ts and kubelet_plugins.ts.

/** The answer, or undefined when the signal aborts first. The work itself goes on: its own timeout ends it. */
export async function awaitShared<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let leave = (): void => {};
  const left = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([answer, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
