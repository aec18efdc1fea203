// Notifications for the cluster manager (OCM): the state of the policy, and entries of the service log.
import type { Clock } from "../../../clock.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import { isPolicyOf } from "../../decide/policy/plan_change.ts";
import { mayFollow, ocmValueOf, SERVICE_LOG, serviceLogOf } from "../../decide/notifications/ocm_states.ts";
import type { Notification } from "../../decide/types/effects.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { FoundServiceLog, OcmClient } from "../ocm/ocm_client.ts";
import type { NotificationSink } from "./sink.ts";

/** Sets the state of the policy. A state that may not follow the stored one is not sent. */
export function openOcmStateSink(
  { client }: { readonly client: Pick<OcmClient, "cluster" | "policies" | "policyState" | "setPolicyState"> },
): NotificationSink {
  return {
    name: "cluster manager",
    send: async (notification, signal) => {
      const { state, version, upgradeAt, description } = notification;
      const value = ocmValueOf(state);
      if (value === undefined) return;
      const { id: clusterId } = await client.cluster(signal);
      const policy = (await client.policies(clusterId, signal)).find((one) => isPolicyOf(one, { version, upgradeAt }));
      if (policy === undefined) {
        throw new UpstreamError(
          `Cannot notify the cluster manager: it has no policy for version ${version} at ${upgradeAt}.`,
          { fault: "refused" },
        );
      }
      const target = { clusterId, policyId: policy.id };
      const stored = await client.policyState(target, signal);
      const isThere = stored.value === value && stored.description === description;
      if (!isThere && mayFollow(stored, state)) await client.setPolicyState(target, { value, description }, signal);
    },
  };
}

/** An entry of the service log that is older (ms) is of another upgrade. */
const SAME_UPGRADE_MS = 24 * 3_600_000;

/** Makes no entry twice, as far as the log can be read: an agent of the cluster manager may hide it. */
export function openServiceLogSink(
  { client, clusterId, clock }: {
    readonly client: Pick<OcmClient, "cluster" | "serviceLogs" | "postServiceLog">;
    readonly clusterId: (signal: AbortSignal) => Promise<string>;
    readonly clock: Pick<Clock, "nowMs">;
  },
): NotificationSink {
  return {
    name: "service log",
    send: async (notification, signal) => {
      const text = serviceLogOf(notification.state);
      if (text === undefined) return;
      const sinceMs = clock.nowMs() - SAME_UPGRADE_MS;
      if (await hasEntry(client, { notification, summary: text.summary, sinceMs }, signal)) return;
      const { id } = await client.cluster(signal);
      const { serviceName, logType, severity } = SERVICE_LOG;
      const entry = {
        severity,
        service_name: serviceName,
        log_type: logType,
        summary: text.summary,
        description: notification.description,
        internal_only: false,
        cluster_id: id,
        cluster_uuid: await clusterId(signal),
        ...(text.references.length === 0 ? {} : { doc_references: text.references }),
      };
      await client.postServiceLog(entry, signal);
    },
  };
}

async function hasEntry(
  client: Pick<OcmClient, "serviceLogs">,
  { notification, summary, sinceMs }: {
    readonly notification: Notification;
    readonly summary: string;
    readonly sinceMs: number;
  },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const isSame = (entry: FoundServiceLog): boolean =>
      entry.summary === summary && entry.description === notification.description &&
      (parseTime(entry.timestamp) ?? -Infinity) >= sinceMs;
    return (await client.serviceLogs(signal)).some(isSame);
  } catch (error) {
    const mayNotRead = error instanceof UpstreamError && [403, 404, 405].includes(error.status);
    if (mayNotRead) return false;
    throw error;
  }
}
