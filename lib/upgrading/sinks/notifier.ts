// Sends a notification to every sink. One that fails is tried again, the others are not: what each has is remembered here, and
// past a restart by the sinks themselves, which know a notification by its id.
import { LRUCache } from "lru-cache";
import { errorText } from "../../log.ts";
import type { Notification } from "../../upgrades/types/effects.ts";
import type { UpgradeConfig } from "../../upgrades/types/plan.ts";
import type { NotificationSink } from "./sink.ts";

/** What sending takes. */
export interface NotifierDeps {
  /** Those of a plan, as configured now. */
  readonly sinks: (plan: UpgradeConfig, signal: AbortSignal) => Promise<readonly NotificationSink[]>;
  /** How it ended, for the metric. */
  readonly observe: (notification: Notification, result: "sent" | "failed") => void;
}

/** Notifications whose sinks are remembered: an upgrade has some ten. */
const MAX_REMEMBERED = 100;

/** Sends notifications. */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #sent = new LRUCache<string, Set<string>>({ max: MAX_REMEMBERED });

  /** Sends nothing yet. */
  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  /** Resolves when every sink has it. Rejects when some have not, with what each says. */
  async send(notification: Notification, plan: UpgradeConfig, signal: AbortSignal): Promise<void> {
    const had = this.#sent.get(notification.id) ?? new Set<string>();
    this.#sent.set(notification.id, had);
    const failures: string[] = [];
    try {
      const due = (await this.#deps.sinks(plan, signal)).filter(({ name }) => !had.has(name));
      await Promise.all(due.map(async (sink) => {
        try {
          await sink.send(notification, signal);
          had.add(sink.name);
        } catch (error) {
          failures.push(`${sink.name}: ${errorText(error)}`);
        }
      }));
    } catch (error) {
      failures.push(errorText(error));
    }
    signal.throwIfAborted();
    this.#deps.observe(notification, failures.length === 0 ? "sent" : "failed");
    if (failures.length > 0) throw new Error(`Cannot send notification ${notification.state}: ${failures.join("; ")}`);
  }
}
