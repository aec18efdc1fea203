// Sends a notification to every sink. One that fails is tried again, the others are not: what each has is kept in the status of
// the plan while some have not, and sinks recognise a notification by its id as far as they can.
import { LRUCache } from "lru-cache";
import { errorText } from "../../../log.ts";
import type { Notification } from "../../decide/types/effects.ts";
import type { UpgradeConfig } from "../../decide/types/plan.ts";
import type { NotificationSink } from "./sink.ts";

export interface NotifierDeps {
  /** Those of a plan, as configured now. */
  readonly sinks: (plan: UpgradeConfig, signal: AbortSignal) => Promise<readonly NotificationSink[]>;
  readonly observe: (notification: Notification, result: "sent" | "failed") => void;
}

/** Which sinks have a notification, written down where the next leader reads it. */
export interface DeliveryRecord {
  sinksOf(id: string): readonly string[];
  /** Replaces them. Rejects when that cannot be written. One call at a time. */
  write(id: string, sinks: readonly string[]): Promise<void>;
}

export interface NotifyOptions {
  readonly plan: UpgradeConfig;
  readonly record: DeliveryRecord;
  readonly signal: AbortSignal;
}

/** Notifications whose sinks are kept in memory as well, for a record that could not be written: an upgrade has some ten. */
const MAX_KEPT = 100;

export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #sent = new LRUCache<string, Set<string>>({ max: MAX_KEPT });

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  async send(notification: Notification, options: NotifyOptions): Promise<void> {
    const { plan, record, signal } = options;
    const { id, state } = notification;
    const had = new Set([...record.sinksOf(id), ...this.#sent.get(id) ?? []]);
    this.#sent.set(id, had);
    const failures: string[] = [];
    const attempt = async (what: string, act: () => Promise<void>): Promise<void> => {
      await act().catch((error: unknown) => void failures.push(what + errorText(error)));
    };
    await attempt("", async () => {
      const due = (await this.#deps.sinks(plan, signal)).filter(({ name }) => !had.has(name));
      await Promise.all(
        due.map((sink) => attempt(`${sink.name}: `, () => sendTo(sink, { notification, had, options }))),
      );
    });
    signal.throwIfAborted();
    const isRecorded = had.size === record.sinksOf(id).length;
    if (failures.length > 0 && !isRecorded) await attempt("", () => record.write(id, [...had]));
    this.#deps.observe(notification, failures.length === 0 ? "sent" : "failed");
    if (failures.length > 0) throw new Error(`Cannot send notification ${state}: ${failures.join("; ")}`);
  }
}

async function sendTo(
  sink: NotificationSink,
  { notification, had, options: { record, signal } }: {
    readonly notification: Notification;
    readonly had: Set<string>;
    readonly options: NotifyOptions;
  },
): Promise<void> {
  const { name } = sink;
  const { id } = notification;
  const attempt = {
    begin: async () => {
      await record.write(id, [...had, name]);
      had.add(name);
    },
    withdraw: async () => {
      had.delete(name);
      await record.write(id, [...had]);
    },
  };
  await sink.send(notification, { attempt, signal });
  had.add(name);
}
