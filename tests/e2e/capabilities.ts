// What Archway does besides placement: taints, exec format errors, upgrade plans, image builds. Where the cluster has not what a
// check needs it is left out, with the reason. Nothing here changes a node, starts an upgrade or lets one restart.
import { renderTime } from "../../lib/vocabulary/time.ts";
import { listAt, objectAt, textAt } from "../../lib/json.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { PodAnnotation } from "../../lib/names.ts";
import { parseRecord } from "../../lib/placement/decide/pod/record.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../../lib/upgrades/names.ts";
import type { CheckDeps } from "./checks.ts";
import { conditionOf } from "./cluster.ts";
import { type CheckOutcome, failed, passed, type Seen } from "./outcome.ts";

const ARCH_LABEL = "kubernetes.io/arch";
const REBUILD = "machineconfiguration.openshift.io/rebuild";
const DAY_MS = 24 * 60 * 60_000;

/** A check that does not concern this cluster: why. */
class LeftOut extends Error {
  override readonly name = "LeftOut";
}

type Look = (deps: CheckDeps) => Promise<Seen>;

const CHECKS: readonly (readonly [check: string, look: Look])[] = [
  ["taints are tolerated", toleratesTaints],
  ["exec format error is reported", execFormatError],
  ["upgrade plan is judged", dryPlan],
  ["image is built", imageBuild],
];

/** Runs them; the pod `placed-0` is there, from the checks of placement. */
export async function checkCapabilities(deps: CheckDeps): Promise<readonly CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  for (const [check, look] of CHECKS) outcomes.push({ check, ...await attempt(() => look(deps)) });
  return outcomes;
}

async function attempt(look: () => Promise<Seen>): Promise<Seen> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof LeftOut) return { result: "skipped", detail: error.message };
    if (!(error instanceof ApiError)) throw error;
    // What a webhook denies has the same code as what a role does not allow.
    if (error.status !== 403 || /admission webhook/.test(error.message)) return failed(error.message);
    return { result: "skipped", detail: `${error.message}. The rights that are needed are in CONTRIBUTING.md.` };
  }
}

async function find(
  { api, signal }: CheckDeps,
  [type, name, namespace]: readonly [type: ResourceType, name: string, namespace?: string],
  why: string,
): Promise<KubeObject> {
  const found = await readOptional(api, { type, name, signal, ...namespace === undefined ? {} : { namespace } });
  if (found === undefined) throw new LeftOut(why);
  return found;
}

function keysIn(list: unknown, holds: (one: unknown) => boolean): readonly string[] {
  return (Array.isArray(list) ? list : []).filter(holds).map((one) => textAt(one, "key"));
}

async function toleratesTaints({ api, cluster, signal }: CheckDeps): Promise<Seen> {
  const { items } = await api.list(Resource.nodes, {}, signal);
  const tainted = items.flatMap((node) => {
    const arch = node.metadata.labels?.[ARCH_LABEL] ?? "none";
    const keys = keysIn(listAt(objectAt(node, "spec"), "taints"), (taint) => textAt(taint, "value") === arch);
    return keys.map((key) => ({ node: node.metadata.name, key, arch }));
  });
  if (tainted.length === 0) throw new LeftOut("No node has a taint of its architecture: --arch-taints is off.");
  const pod = await cluster.read("placed-0");
  const record = parseRecord(pod.metadata.annotations?.[PodAnnotation.decision]);
  const tolerations = listAt(objectAt(pod, "spec"), "tolerations");
  if (record === undefined) return failed("The pod was not placed.");
  const supported = tainted.filter(({ arch }) => record.architectures.includes(arch));
  const refused = supported.filter(({ key, arch }) =>
    !keysIn(tolerations, (one) => textAt(one, "operator") === "Exists" || textAt(one, "value") === arch).includes(key)
  );
  const [first] = refused;
  if (first !== undefined) {
    return failed(`It runs on ${first.arch}, and does not tolerate ${first.key}=${first.arch} of ${first.node}.`);
  }
  const keys = new Set(supported.map(({ key, arch }) => `${key}=${arch}`));
  return passed(
    `${[...keys].join(", ") || "no taint of its architectures"}, on ${
      new Set(supported.map(({ node }) => node)).size
    } nodes`,
  );
}

async function execFormatError({ cluster, options: { wrongImage } }: CheckDeps): Promise<Seen> {
  if (wrongImage === undefined) {
    throw new LeftOut("Name an image whose program is for another architecture than it claims: --wrong-image REF.");
  }
  const name = "wrong-program";
  await cluster.create({ name, image: wrongImage });
  const found = await cluster.until(async () =>
    (await cluster.events(name)).find((one) => / ExecFormatError /.test(one))
  );
  if (found !== undefined) return passed(found.replace(/^Warning /, ""));
  const { status, message } = conditionOf(await cluster.read(name), "PodScheduled");
  return failed(
    status === "True"
      ? "No event ExecFormatError. Do the daemons of exec-format-errors run, and does the program fail?"
      : `Its pod is on no node: ${message}`,
  );
}

async function dryPlan(deps: CheckDeps): Promise<Seen> {
  const { api, signal } = deps;
  const version = await find(deps, [Resource.clusterVersions, CLUSTER_VERSION_NAME], "This is no OpenShift cluster.");
  const current = textAt(objectAt(objectAt(version, "status"), "desired"), "version");
  const { namespace, config: name } = Upgrades;
  if (await readOptional(api, { type: Resource.upgradeConfigs, namespace, name, signal }) !== undefined) {
    throw new LeftOut("There is a plan: archway upgrade plan shows what it would do.");
  }
  const apply = (wanted: string): Promise<unknown> => {
    const spec = {
      type: "OSD",
      upgradeAt: renderTime(Date.now() + DAY_MS),
      PDBForceDrainTimeout: 60,
      desired: { version: wanted, channel: "stable" },
      suspend: true,
    };
    const document = {
      apiVersion: "upgrade.managed.openshift.io/v1alpha1",
      kind: "UpgradeConfig",
      metadata: { name, namespace },
      spec,
    };
    const body = { kind: "apply", document } as const;
    return api.patch(Resource.upgradeConfigs, { namespace, name }, { body, signal, isDryRun: true });
  };
  try {
    await apply(current);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      throw new LeftOut("Upgrade plans are not installed: the component upgrades, in docs/upgrades.md.");
    }
    throw error;
  }
  try {
    await apply("0.0.1");
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.status ?? 0)) throw error;
    const why = error.message.replace(/^.* denied the request: /s, "");
    return passed(`a plan for ${current} is taken, one for 0.0.1 is not: ${why}`);
  }
  return failed("A plan for 0.0.1 is taken: does the webhook archway-upgrades answer?");
}

async function imageBuild(deps: CheckDeps): Promise<Seen> {
  const { api, cluster, signal, options: { buildConfig } } = deps;
  if (buildConfig === undefined) {
    throw new LeftOut(
      "Name a MachineOSConfig of a pool without nodes, whose image is built again: --build-config NAME.",
    );
  }
  const place = [Resource.machineOsConfigs, buildConfig] as const;
  const before = await find(deps, place, `There is no MachineOSConfig ${buildConfig}.`);
  const pool = textAt(objectAt(objectAt(before, "spec"), "machineConfigPool"), "name");
  const poolObject = await find(deps, [Resource.machineConfigPools, pool], `There is no MachineConfigPool ${pool}.`);
  const { machineCount = 1 } = { ...objectAt(poolObject, "status") };
  if (machineCount !== 0) {
    throw new LeftOut(`The pool ${pool} has nodes, which would restart: name a MachineOSConfig of an empty one.`);
  }
  const specOf = (config: KubeObject): string => textAt(objectAt(config, "status"), "currentImagePullSpec");
  if (specOf(before) === "") throw new LeftOut("Its first image is not published yet: it cannot be built again.");
  const document = { metadata: { annotations: { [REBUILD]: "all" } } };
  await api.patch(Resource.machineOsConfigs, { name: buildConfig }, { body: { kind: "merge", document }, signal });
  const built = await cluster.until(async () => {
    const config = await find(deps, place, "It was deleted.");
    return specOf(config) === specOf(before) ? undefined : config;
  });
  if (built !== undefined) {
    const archs = poolObject.metadata.annotations?.["archway.dev/architectures"] ?? "its architectures";
    return passed(`${specOf(built)} for ${archs}`);
  }
  const problem = conditionOf(await find(deps, place, "It was deleted."), "BuildNotPossible");
  return failed(
    problem.status === "True" ? problem.message : "No other image was published: see its MachineOSBuild, or --timeout.",
  );
}
