// The callers that a request is sent for. A limit charges the share of one caller's namespace, and the most urgent
// caller sets the priority.

/**
 * The order when a registry's budget is short. First `gated`: pods wait for these images. Then `admission`: images of
 * pods at their admission and in audits, which no pod waits for. Last `prewarm`.
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
  /** Calls the listener for each distinct caller that joins from now on, until the returned function is called. */
  onJoin(listener: (caller: Caller) => void): () => void;
}

/** A single caller that no other joins. Work for no namespace leaves `namespace` out. */
export function callersOf(
  { namespace = "", priority }: Pick<Caller, "priority"> & { readonly namespace?: string | undefined },
): Callers {
  return { members: [{ namespace, priority }], onJoin: () => () => {} };
}

export function mostUrgent({ members }: Callers): InspectionPriority {
  return PRIORITIES.find((priority) => members.some((caller) => caller.priority === priority)) ?? "prewarm";
}

/** The callers of a shared call: all callers of the requests that have joined it, each of them once. */
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

  /** Adds the members of `others`, and those that join `others` before the returned function is called. */
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
