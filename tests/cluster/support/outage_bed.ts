// An upgrade with everything beside the API server real or as strict as real: Prometheus and Alertmanager as programs, the cluster
// manager over HTTP; each of them, and the API server, behind a gate. Plans come from the cluster manager.
import { renderTime } from "../../../lib/vocabulary/time.ts";
import { systemClock } from "../../../lib/clock.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { silentLogger } from "../../../lib/log.ts";
import { NO_PROXIES } from "../../../lib/oci/http/proxy.ts";
import { Upgrades } from "../../../lib/upgrades/names.ts";
import { type OpenOutside, openOutside } from "../../../lib/upgrades/outside/outside.ts";
import {
  addPolicy,
  EXTERNAL_ID,
  type OcmDouble,
  PULL_SECRET_AUTH,
  startOcm,
} from "../../lib/upgrades/outside/ocm_double.ts";
import { hastyClock, SIGNAL } from "../../lib/upgrades/outside/support.ts";
import { type MonitoringServer, startAlertmanager, startPrometheus } from "../../monitoring/support.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { dockerSecret } from "./objects.ts";
import { CLUSTER_VERSION } from "./simulated_openshift.ts";
import { openOutageGate, type OutageGate } from "./outage_gate.ts";
import { openStepOutages, type StepOutages } from "./step_outages.ts";
import { openHastyClock, openUpgradeBed, type UpgradeBed } from "./upgrade_bed.ts";
import { phaseOf } from "./upgrade_plane.ts";
import { GLOBAL_SECRET } from "./upgrade_surroundings.ts";
import { waitUntil } from "./wait.ts";

export type OutageServer = "Prometheus" | "Alertmanager" | "cluster manager" | "API server";

export interface ListedSilence {
  readonly comment: string;
  readonly state: string;
}

export interface OutageBed extends AsyncDisposable {
  readonly upgrade: UpgradeBed;
  readonly manager: OcmDouble;
  readonly upgradeWithout: (server: OutageServer, version: string) => Promise<StepOutages>;
  readonly silences: () => Promise<readonly ListedSilence[]>;
}

interface Parts {
  readonly upgrade: UpgradeBed;
  readonly manager: OcmDouble;
  readonly outside: OpenOutside;
  readonly gates: Readonly<Record<OutageServer, OutageGate>>;
  readonly gatedApi: KubeApi;
}

export async function openOutageBed(): Promise<OutageBed> {
  await using undo = new AsyncDisposableStack();
  const upgrade = undo.use(await openUpgradeBed({ clock: openHastyClock(120) }));
  const alertmanager = undo.use(await startAlertmanager());
  const prometheus = undo.use(await startPrometheus("groups: []\n"));
  const manager = undo.use(startOcm("api"));
  const access = await readKubeconfigAccess(upgrade.controlPlane.kubeconfigFile, { clock: systemClock });
  const gateTo = (url: string): OutageGate => undo.use(openOutageGate(Number(new URL(url).port)));
  const gates = {
    Prometheus: gateTo(prometheus.endpoint.baseUrl),
    Alertmanager: gateTo(alertmanager.endpoint.baseUrl),
    "cluster manager": gateTo(manager.origin),
    "API server": gateTo(access.baseUrl),
  };
  await prepare(upgrade.controlPlane, gates["cluster manager"].port);
  const outside = undo.use(openOutsideAt(undo.use(openTestApi(access)), { alertmanager, prometheus, gates }));
  const gatedApi = undo.use(openTestApi({ ...access, baseUrl: `https://127.0.0.1:${gates["API server"].port}` }));
  const owned = undo.move();
  const parts = { upgrade, manager, outside, gates, gatedApi };
  return {
    ...{ upgrade, manager },
    upgradeWithout: (server, version) => upgradeWithout(parts, { server, version }),
    silences: () => listSilences(alertmanager),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The settings, the id of the cluster, and the pull secret that is the login at the cluster manager. */
async function prepare(cluster: ClusterAccess, managerPort: number): Promise<void> {
  const settings = `upgradeType: OSD
configManager: { source: OCM, ocmBaseUrl: "http://127.0.0.1:${managerPort}" }
featureGate: { enabled: [ServiceLogNotification] }
`;
  await cluster.apply([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "openshift-config" } },
    dockerSecret(GLOBAL_SECRET, { "cloud.openshift.com": { auth: PULL_SECRET_AUTH } }),
    {
      ...{
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: Upgrades.namespace, name: Upgrades.configMapName },
      },
      data: { [Upgrades.configMapKey]: settings },
    },
  ]);
  const body = { spec: { clusterID: EXTERNAL_ID } };
  await cluster.patch(CLUSTER_VERSION, body);
}

function openOutsideAt(
  api: KubeApi,
  { alertmanager, prometheus, gates }: {
    readonly alertmanager: MonitoringServer;
    readonly prometheus: MonitoringServer;
    readonly gates: Parts["gates"];
  },
): OpenOutside {
  const through = ({ endpoint }: MonitoringServer, { port }: OutageGate): MonitoringServer["endpoint"] => ({
    ...endpoint,
    baseUrl: `https://127.0.0.1:${port}`,
  });
  return openOutside({
    ...{ api, namespace: Upgrades.namespace, clock: hastyClock(), log: silentLogger, userAgent: "archway-tests/0" },
    ...{ bundles: () => Promise.resolve([]), proxies: NO_PROXIES, metrics: { set: () => {} }, pullSecret: undefined },
    registries: { registry: [], registryCa: [], insecureRegistry: [] },
    monitoring: {
      "alertmanager-main": through(alertmanager, gates.Alertmanager),
      "prometheus-k8s": through(prometheus, gates.Prometheus),
    },
  });
}

async function upgradeWithout(
  { upgrade, manager, outside, gates, gatedApi }: Parts,
  { server, version }: { readonly server: OutageServer; readonly version: string },
): Promise<StepOutages> {
  const { openshift, gauges, readPlan } = upgrade;
  await openshift.offer(version);
  openshift.holdNodes();
  manager.policies.splice(0);
  addPolicy(manager, `policy-${version.replaceAll(".", "-")}`, { version, at: renderTime(Date.now() - 60_000) });
  await outside.policy.refresh(SIGNAL);
  const outages = openStepOutages(gatedApi, gates[server]);
  const end = upgrade.start({ readApi: outages.api, api: outages.api, outside });
  const isReported = (): boolean =>
    [...gauges.keys()].some((name) => name.includes("upgrade_result") && name.includes(`"version":"${version}"`));
  let plan: unknown;
  await waitUntil(`the end of the upgrade to ${version}`, async () => {
    plan = await readPlan();
    // Only when the upgrade waits for nodes do they begin: the steps about them have something to do then.
    if (JSON.stringify(plan).includes('"WorkerNodesUpgraded"')) openshift.letNodesGo();
    return phaseOf(plan) === "Upgraded" && isReported();
  }, { deadlineMs: 120_000, intervalMs: 100 }).catch((cause: unknown) => {
    const words = `${outages.refusedAt.join(", ")}; operators: ${String(openshift.lastFault)}; ${
      JSON.stringify(read(plan, "status"))
    }`;
    throw new Error(`Cannot see the end of the upgrade: ${words}`, { cause });
  });
  await end();
  gates[server].open();
  return outages;
}

async function listSilences({ endpoint }: MonitoringServer): Promise<readonly ListedSilence[]> {
  const { baseUrl, caCerts, authorization } = endpoint;
  using client = Deno.createHttpClient({ caCerts: [...caCerts], http2: false, poolMaxIdlePerHost: 0 });
  const answer = await fetch(`${baseUrl}/api/v2/silences`, { client, headers: { authorization } });
  const listed: unknown = await answer.json();
  return (Array.isArray(listed) ? listed : []).map((one) => ({
    comment: String(read(one, "comment")),
    state: String(read(one, "status", "state")),
  }));
}
