// The workloads of a cluster with the architectures on which they run: read, inspected and put together for reports.
import { KNOWN_ARCHITECTURES } from "../arch.ts";
import { failedArchitectures } from "../exec_format/decide/failed_image.ts";
import { type KubeApi, serverNowMs } from "../k8s/api.ts";
import { Resource } from "../k8s/types.ts";
import { supportOf } from "../report/support.ts";
import type { InventoryLimits } from "../report/inventory.ts";
import type { WorkloadSupport } from "../report/types.ts";
import type { ReadFailures } from "./failed_images.ts";
import { type InspectDeps, inspectWorkloads, type ReadWorkloads, readWorkloads } from "./report_read.ts";

export interface SupportOptions extends InspectDeps {
  readonly api: KubeApi;
  /** The only namespace; absent: all. */
  readonly namespace?: string | undefined;
  /** The architectures that count; absent: those that are known. */
  readonly candidates?: readonly string[] | undefined;
  /** Where images have failed; absent: that is not considered. */
  readonly failed?: ((signal: AbortSignal) => Promise<ReadFailures>) | undefined;
  readonly limits?: InventoryLimits | undefined;
}

export interface SupportFound extends Omit<ReadWorkloads, "workloads"> {
  readonly workloads: readonly WorkloadSupport[];
}

/** Reads them. Throws the error of the API server, unless it forbids one of the kinds. */
export async function readSupport(options: SupportOptions): Promise<SupportFound> {
  const { api, clock, signal, namespace, limits, candidates = KNOWN_ARCHITECTURES } = options;
  const { workloads, unread, isComplete } = await readWorkloads(api, { namespace, signal, limits, candidates });
  const failed = await options.failed?.(signal);
  const inspected = await inspectWorkloads(workloads, options);
  const nowMs = serverNowMs(clock, api);
  const found = workloads.map((workload) =>
    supportOf(workload, {
      candidates,
      inspected: (image) => inspected(workload, image),
      failedOn: (digest) => failedArchitectures(failed?.images ?? [], { digest, namespace: workload.namespace, nowMs }),
    })
  );
  const unreadToo = failed?.isForbidden ? [Resource.enoexecEvents.plural] : [];
  return { workloads: found, unread: [...unread, ...unreadToo], isComplete };
}
