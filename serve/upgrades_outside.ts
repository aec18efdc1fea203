// What upgrades need that is not the API server, from the configuration: Alertmanager, Prometheus, the update graph, registries,
// the cluster manager.
import { NO_PROXIES } from "../lib/oci/http/proxy.ts";
import type { UpgradeMetrics } from "../lib/upgrades/metrics.ts";
import { openTrustedBundles } from "../lib/upgrades/outside/http/trusted_bundles.ts";
import { openOutside as openServices, type Outside } from "../lib/upgrades/outside/outside.ts";
import type { PolicySync } from "../lib/upgrades/outside/policy/policy_sync.ts";
import type { CapabilityParts, ServeDeps } from "./capability.ts";

/** Opens it, with what keeps the plan as a policy source states it. No request is sent before a reconcile needs it. */
export function openOutside(
  { clock, config, log, userAgent }: ServeDeps,
  { leaderApi: api, stack }: CapabilityParts,
  metrics: UpgradeMetrics,
): { readonly outside: Outside; readonly manager: PolicySync } {
  const { namespace, kubeconfig, registryEnvironment, pullSecrets, globalPullSecret } = config;
  const services = stack.use(openServices({
    api,
    namespace,
    metrics,
    userAgent,
    clock,
    log: log.with({ part: "upgrades" }),
    // A process outside of the cluster reaches what the cluster shows to the outside.
    monitoring: kubeconfig === undefined ? "service" : "route",
    registries: config,
    pullSecret: pullSecrets === "none" ? undefined : globalPullSecret,
    bundles: openTrustedBundles(config.registryCa, { clock, log }),
    proxies: registryEnvironment?.proxies ?? NO_PROXIES,
  }));
  return { outside: services, manager: services.policy };
}
