// A line with three doors: gated pods go before admission, admission before prewarm; first come, first served in each.
// A waiter's priority is asked when somebody is called, so one that others have joined meanwhile moves up.
import type { InspectionPriority } from "../inspector.ts";

/** Somebody who waits. Exactly one of the two is called, once. */
export interface Waiter {
  /** Asked when somebody is called. */
  readonly priority: () => InspectionPriority;
  /** It is your turn. */
  readonly go: () => void;
  /** There will be no turn. */
  readonly refuse: (reason: Error) => void;
}

const ORDER: readonly InspectionPriority[] = ["gated", "admission", "prewarm"];

/** The line. */
export class PriorityQueue {
  #waiters: Waiter[] = [];

  /** How many wait. */
  get length(): number {
    return this.#waiters.length;
  }

  /** Joins at the end. */
  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  /** Leaves; nothing happens when already called. */
  remove(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
  }

  /** Takes the next one out of the line. */
  next(): Waiter | undefined {
    for (const door of ORDER) {
      const at = this.#waiters.findIndex(({ priority }) => priority() === door);
      if (at >= 0) return this.#waiters.splice(at, 1)[0];
    }
    return undefined;
  }

  /** Sends everybody away. */
  refuseAll(reason: () => Error): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.refuse(reason());
  }
}
