// Notifications as Kubernetes events of the UpgradeConfig. The name of the event follows from the notification's id: the API
// server itself refuses the second one.
import { createHash } from "node:crypto";
import type { CoreV1Event } from "@kubernetes/client-node";
import type { Clock } from "../../../clock.ts";
import type { KubeApi } from "../../../k8s/api.ts";
import { isConflict } from "../../../k8s/errors.ts";
import { type EventObject, queuedEventOf, renderUpdate } from "../../../k8s/event_input.ts";
import { Resource, type Wire } from "../../../k8s/types.ts";
import { Upgrades } from "../../names.ts";
import type { NotificationState } from "../../decide/types/plan.ts";
import type { NotificationSink } from "./sink.ts";

/** States that an administrator should look at. */
const WARNINGS: readonly NotificationState[] = [
  "StateDelayed",
  "StateFailed",
  "StateScaleSkipped",
  "StateSkipped",
  "StateHealthCheckSL",
  "StatePreHealthCheckSL",
  "StateMigrationStuck",
];

/** Opens the sink. The reason of an event is the state without `State`: `ControlPlaneStartedSL` is `ControlPlaneStarted`. */
export function openEventSink(
  { api, subject: object, clock }: {
    readonly api: Pick<KubeApi, "create">;
    readonly subject: EventObject & { readonly namespace: string };
    readonly clock: Pick<Clock, "nowMs">;
  },
): NotificationSink {
  return {
    name: "event",
    send: async ({ id, state, description }, { signal }) => {
      const nowMs = clock.nowMs();
      const reason = state.replace(/^State/, "").replace(/SL$/, "");
      const type = WARNINGS.includes(state) ? "Warning" : "Normal";
      const { input } = queuedEventOf({ object, type, reason, message: description });
      const name = `${object.name}.${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: object.namespace },
        involvedObject: object,
        source: { component: Upgrades.eventSource },
        reportingComponent: Upgrades.eventSource,
        reportingInstance: "",
        ...renderUpdate(input, { count: 1, firstMs: nowMs, lastMs: nowMs }),
      } satisfies Wire<CoreV1Event>;
      try {
        await api.create(Resource.events, event, { namespace: object.namespace, signal });
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    },
  };
}
