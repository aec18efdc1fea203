// The watches of the API server in memory: what each selection sees of a change.
import type { ListOptions, RawWatchEvent } from "../../lib/k8s/api.ts";
import type { KubeObject } from "../../lib/k8s/types.ts";
import { parseFieldSelector, parseLabelSelector } from "../../playground/selectors.ts";

interface Watcher {
  readonly selection: ListOptions;
  readonly events: RawWatchEvent[];
  wake: () => void;
}

export interface Change {
  readonly before: KubeObject | undefined;
  readonly now: KubeObject | undefined;
}

/** By plural. */
export class MemoryWatches {
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Shows a change to every watch whose selection it enters, stays in or leaves. */
  show(plural: string, change: Change): void {
    for (const watcher of this.#watchers.get(plural) ?? []) {
      const event = eventFor(watcher.selection, change);
      if (event === undefined) continue;
      watcher.events.push(event);
      watcher.wake();
    }
  }

  /** Events from now on, until the signal aborts, which ends it with the signal's reason. */
  async *follow(
    plural: string,
    { selection, signal, before }: {
      readonly selection: ListOptions;
      readonly signal: AbortSignal;
      readonly before: () => Promise<void> | void;
    },
  ): AsyncGenerator<RawWatchEvent, void> {
    await before();
    const watchers = this.#watchers.get(plural) ?? new Set();
    this.#watchers.set(plural, watchers);
    const watcher: Watcher = { selection, events: [], wake: () => {} };
    watchers.add(watcher);
    const wake = (): void => watcher.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      while (!signal.aborted) {
        const event = watcher.events.shift();
        if (event !== undefined) yield event;
        else await new Promise<void>((resolve) => watcher.wake = resolve);
      }
    } finally {
      signal.removeEventListener("abort", wake);
      watchers.delete(watcher);
    }
    signal.throwIfAborted();
  }
}

function eventFor(selection: ListOptions, { before, now }: Change): RawWatchEvent | undefined {
  const was = before !== undefined && selects(selection, before);
  if (now !== undefined && selects(selection, now)) return { type: was ? "MODIFIED" : "ADDED", object: now };
  const last = now ?? before;
  return was && last !== undefined ? { type: "DELETED", object: last } : undefined;
}

/** Whether a list or watch of this selection has the object. */
export function selects(
  { namespace, fieldSelector = "", labelSelector = "" }: ListOptions,
  object: KubeObject,
): boolean {
  return (namespace === undefined || object.metadata.namespace === namespace) &&
    parseFieldSelector(fieldSelector)(object) && parseLabelSelector(labelSelector)(object);
}
