// How many ENoExecEvents each node has waiting. A node that floods Archway with them has the rest of them deleted unread: it
// delays no other node, and takes no storage of the API server.
import type { Change } from "../../lib/k8s/object_cache.ts";
import type { Logger } from "../../lib/log.ts";

/** More than a daemon writes in three minutes: while no leader works them off, what is reported of a node is cut off here. */
export const MAX_EVENTS_OF_NODE = 2_000;

/** The counts, kept by a watch. */
export class EventBacklog {
  readonly #log: Logger;
  readonly #byNode = new Map<string, number>();

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log;
  }

  /** Takes a change of the watch; its value is the node. */
  note({ kind, value: node, ...change }: Change<string>): void {
    const before = this.#byNode.get(node) ?? 0;
    const isNew = kind === "apply" && !("previous" in change);
    const count = before + (isNew ? 1 : kind === "delete" ? -1 : 0);
    if (count > 0) this.#byNode.set(node, count);
    else this.#byNode.delete(node);
    if (count > before && count === MAX_EVENTS_OF_NODE + 1) {
      this.#log.warn("a node reports too many exec format errors: more are deleted unread", { node, count });
    }
  }

  /** Whether more events of the node wait than are handled. The MTO's events and records of images belong to no node. */
  isFull(node: string): boolean {
    return node !== "" && (this.#byNode.get(node) ?? 0) > MAX_EVENTS_OF_NODE;
  }
}
