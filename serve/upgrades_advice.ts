// What a migration says of the workloads of the cluster, once it has converged. Everything that inspects images is opened for that
// one check and closed after it: it happens once in the life of a cluster.
import { adviseOnWorkloads } from "../lib/cli/workload_advice.ts";
import { openImageService } from "../lib/images/pods/image_service.ts";
import { openPodImages } from "../lib/images/pods/pod_images.ts";
import { PullSecrets } from "../lib/images/pods/pull_secrets.ts";
import { type Logger, silentLogger } from "../lib/log.ts";
import { readCredentials } from "../lib/upgrades/outside/releases/cluster_payloads.ts";
import type { CapabilityParts, ServeDeps } from "./capability.ts";

export type AdviceDeps = Pick<ServeDeps, "clock" | "config" | "userAgent"> & { readonly log: Logger };

export function openWorkloadAdvice(
  deps: AdviceDeps,
  parts: Pick<CapabilityParts, "leaderApi">,
): (signal: AbortSignal) => Promise<readonly string[]> {
  return (signal) => lookAround(deps, parts, signal);
}

async function lookAround(
  { clock, config, log, userAgent }: AdviceDeps,
  { leaderApi: api }: Pick<CapabilityParts, "leaderApi">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const pullSecret = config.pullSecrets === "none" ? undefined : config.globalPullSecret;
  const credentials = await readCredentials({ api, pullSecret, log }, signal);
  const options = { config, clock, log, userAgent, clusterCredentials: () => credentials };
  await using service = await openImageService(options);
  // Those of namespaces are not for this account to read: images that need them are named as not inspected.
  const pullSecrets = new PullSecrets({ api, mode: "none", ownNamespace: "", clock, log: silentLogger });
  const { inspector, known } = service;
  const images = openPodImages({ inspector, pullSecrets, known, clock, log: silentLogger, signal, observe: () => {} });
  return await adviseOnWorkloads({ api, images, clock, signal });
}
