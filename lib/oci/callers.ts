// The namespaces that a request is sent for: their shares of a limit are charged, and the most urgent sets its
// priority.

/**
 * The order when a registry's budget is short: `gated` pods first; then what no pod waits for, images of pods at their
 * `admission` and in audits; last `prewarm`.
 */
export const PRIORITIES = ["gated", "admission", "prewarm"] as const;

export type InspectionPriority = typeof PRIORITIES[number];

export interface Caller {
  readonly namespace: string;
  readonly priority: InspectionPriority;
}

/** All callers of one call; more may join while it is under way. */
export interface Callers {
  readonly members: readonly Caller[];
  /** Calls the listener for each distinct caller that joins from now on; the result ends that. */
  onJoin(listener: (caller: Caller) => void): () => void;
}

/** One caller, whom none joins; without a namespace the work is done for none. */
export function callersOf(
  { namespace = "", priority }: Pick<Caller, "priority"> & { readonly namespace?: string | undefined },
): Callers {
  return { members: [{ namespace, priority }], onJoin: () => () => {} };
}

export function mostUrgent({ members }: Callers): InspectionPriority {
  return PRIORITIES.find((priority) => members.some((caller) => caller.priority === priority)) ?? "prewarm";
}

/** The callers of a shared call: those of each request that waits for it, each of them once. */
export class SharedCallers implements Callers {
  readonly #members = new Map<string, Caller>();
  readonly #listeners = new Set<(caller: Caller) => void>();

  get members(): readonly Caller[] {
    return [...this.#members.values()];
  }

  onJoin(listener: (caller: Caller) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Adds the members of others, also those who join them, until the result is called. */
  follow(others: Callers): () => void {
    for (const caller of others.members) this.#add(caller);
    return others.onJoin((caller) => this.#add(caller));
  }

  #add(caller: Caller): void {
    const name = `${caller.priority} ${caller.namespace}`;
    if (this.#members.has(name)) return;
    this.#members.set(name, caller);
    for (const listener of [...this.#listeners]) listener(caller);
  }
}
