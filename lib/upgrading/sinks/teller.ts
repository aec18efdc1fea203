// Tells every sink of a notification. One that fails is told again, the others are not: what each has is remembered here, and
// past a restart by the sinks themselves, which know a notification by its id.
import { LRUCache } from "lru-cache";
import { errorText } from "../../log.ts";
import type { Notification } from "../../upgrades/types/effects.ts";
import type { UpgradeConfig } from "../../upgrades/types/plan.ts";
import type { NotificationSink } from "./sink.ts";

/** What telling takes. */
export interface TellerDeps {
  /** Those of a plan, as configured now. */
  readonly sinks: (plan: UpgradeConfig, signal: AbortSignal) => Promise<readonly NotificationSink[]>;
  /** How it ended, for the metric. */
  readonly observe: (notification: Notification, result: "told" | "failed") => void;
}

/** Notifications whose sinks are remembered: an upgrade has some ten. */
const MAX_REMEMBERED = 100;

/** Tells. */
export class Teller {
  readonly #deps: TellerDeps;
  readonly #told = new LRUCache<string, Set<string>>({ max: MAX_REMEMBERED });

  /** Sends nothing yet. */
  constructor(deps: TellerDeps) {
    this.#deps = deps;
  }

  /** Resolves when every sink has it. Rejects when some have not, with what each says. */
  async tell(notification: Notification, plan: UpgradeConfig, signal: AbortSignal): Promise<void> {
    const told = this.#told.get(notification.id) ?? new Set<string>();
    this.#told.set(notification.id, told);
    const failures: string[] = [];
    try {
      const due = (await this.#deps.sinks(plan, signal)).filter(({ name }) => !told.has(name));
      await Promise.all(due.map(async (sink) => {
        try {
          await sink.send(notification, signal);
          told.add(sink.name);
        } catch (error) {
          failures.push(`${sink.name}: ${errorText(error)}`);
        }
      }));
    } catch (error) {
      failures.push(errorText(error));
    }
    signal.throwIfAborted();
    this.#deps.observe(notification, failures.length === 0 ? "told" : "failed");
    if (failures.length > 0) throw new Error(`Cannot send notification ${notification.state}: ${failures.join("; ")}`);
  }
}
