// The subject of the walks on real nodes: Archway in its Deployment, real owners of pods, and containers that run or cannot.
import { parseKubeObject } from "../../../lib/k8s/kube_object.ts";
import { type KubeObject, Resource, resourcePath } from "../../../lib/k8s/types.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import { type JsonObject, listAtPath, objectAtPath, textAtPath } from "../../../playground/json_path.ts";
import { listNodeArchitectures } from "../../cluster/support/pods.ts";
import { GiveUp, waitUntil } from "../../cluster/support/wait.ts";
import {
  type ClusterWalk,
  clusterWalk,
  GLOBAL_SECRETS,
  isGated,
  layOut,
  openNamespaces,
} from "../../cluster/support/walk_objects.ts";
import { DEAD_HOST, OPERATOR_NAMESPACE, renderRegistriesConf } from "../../support/walk/registries.ts";
import type { Fate, WalkPod, WalkSetting, WalkSubject } from "../../support/walk/subject.ts";
import { type PodFate, readFates } from "./fates.ts";
import { install, kubectl } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";
import { ownerOf, POD_LABEL } from "./walk_owners.ts";
import { logIn, type NodeWalkRegistries, openNodeWalkRegistries } from "./walk_registries.ts";

/** The name of a node for amd64 that is always there. */
const NODE = "n1";
/** Where pods go whose images need the global pull secret: they are for arm64. */
const LOGGED_IN = "n2";
/** Forty pods are gated at once, and their containers share the machine with Archway. */
const MAX_GATE_AGE = "--max-gate-age=30s";
const PATIENCE_MS = 180_000;
/** There is no DNS in the cluster. */
const SPEC = { dnsPolicy: "Default", terminationGracePeriodSeconds: 1 };
const COMPONENTS = ["registry-ca", "registries-conf"];

/** Nodes with Archway before them. Dispose it to take away what the walks made; Archway stays. */
export interface WalkNodes extends AsyncDisposable {
  /** Lays out a walk, in place of the one before it. Resolves when pods are gated. */
  begin(setting: WalkSetting, prepare?: (walk: WalkSubject) => Promise<void>): Promise<WalkSubject>;
}

/** Opens registries, configures nodes and Archway for them, and installs it. */
export async function openWalkNodes(lab: OpenLab): Promise<WalkNodes> {
  await using undo = new AsyncDisposableStack();
  const registries = undo.use(await openNodeWalkRegistries(lab));
  // Archway is on other nodes than the one that is started again.
  await Promise.all([logIn(lab, LOGGED_IN, `${registries.host}/global`), installFor(lab, registries)]);
  undo.defer(async () => void await kubectl(lab, "delete", "namespace", GLOBAL_SECRETS));
  const architectures = await listNodeArchitectures(lab);
  const clear = async (): Promise<void> => void await kubectl(lab, "delete", "namespaces", "-l", WALK, "--wait=false");
  undo.defer(clear);
  let begun = 0;
  const owned = undo.move();
  return {
    begin: async (setting, prepare) => {
      await clear();
      const walk = clusterWalk(lab, { registries, node: NODE, number: ++begun });
      const subject = subjectOf(walk, { lab, architectures, mayPass: setting.spec["namespaceSelector"] !== undefined });
      await layOut(subject, setting, prepare);
      await kubectl(lab, "wait", "--for=condition=Available", "clusterpodplacementconfig/cluster", "--timeout=60s");
      return subject;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const WALK = "archway.dev/test=walk";

async function installFor(lab: OpenLab, registries: NodeWalkRegistries): Promise<void> {
  const create = (...args: readonly string[]): Promise<string> => kubectl(lab, "create", ...args);
  await create("namespace", OPERATOR_NAMESPACE);
  const inside = ["-n", OPERATOR_NAMESPACE, "configmap"];
  await create(...inside, "archway-registry-ca", `--from-file=ca.crt=${registries.caFile}`);
  const conf = `--from-literal=registries.conf=${renderRegistriesConf(registries)}`;
  await create(...inside, "archway-registries-conf", conf);
  const args = [`--insecure-registry=${registries.insecureHost}`, `--registry=${DEAD_HOST}`, MAX_GATE_AGE];
  await install(lab, { args, components: COMPONENTS });
  await openNamespaces(lab);
}

interface SubjectDeps {
  readonly lab: OpenLab;
  readonly architectures: ReadonlyMap<string, string>;
  readonly mayPass: boolean;
}

function subjectOf(walk: ClusterWalk, deps: SubjectDeps): WalkSubject {
  const { lab, mayPass } = deps;
  const bare = new Map<string, JsonObject>();
  const keyOf = ({ namespace, name }: WalkPod): string => `${namespace}/${name}`;
  return {
    ...walk,
    create: async (kind, body, namespace = "") => {
      if (kind === "Namespace") return await walk.create(kind, labelled(body));
      if (kind !== "Pod") return await walk.create(kind, body, ...namespace === "" ? [] : [namespace]);
      const pod = { ...body, spec: { ...SPEC, ...objectAtPath(body, "spec") } };
      const owner = ownerOf(pod);
      if (owner === undefined) {
        bare.set(keyOf({ namespace, name: textAtPath(body, "metadata", "name") ?? "" }), pod);
        return await walk.create(kind, pod, namespace);
      }
      return await lab.create(owner.path(walk.place(namespace)), owner.body);
    },
    decided: async (namespace, name) => {
      const pod = await findPod(walk, deps, { namespace, name });
      const made = bare.get(keyOf({ namespace, name }));
      if (pod === undefined && made !== undefined) await walk.create("Pod", made, namespace);
      if (pod === undefined) return undefined;
      if (mayPass || isSeen(pod)) return isGated(pod) ? undefined : pod;
      // While no replica answers in time pods pass by design; other tests count them.
      await lab.request("DELETE", pathOf(walk, namespace, pod.metadata.name), { gracePeriodSeconds: 0 });
      return undefined;
    },
    assertFate: (pod, fate) => assertFate(walk, deps, { pod, fate }),
  };
}

function labelled(namespace: JsonObject): JsonObject {
  const metadata = objectAtPath(namespace, "metadata");
  const [key = "", value = ""] = WALK.split("=");
  return { ...namespace, metadata: { ...metadata, labels: { ...objectAtPath(metadata, "labels"), [key]: value } } };
}

function pathOf(walk: ClusterWalk, namespace: string, name?: string): string {
  const inside = { namespace: walk.place(namespace) };
  return resourcePath(Resource.pods, name === undefined ? inside : { ...inside, name });
}

function isSeen(pod: KubeObject): boolean {
  return textAtPath(pod, "metadata", "labels", SCHEDULING_GATE) !== undefined;
}

/** The pod of this name, or the one that its owner has made. */
async function findPod(
  walk: ClusterWalk,
  { lab }: SubjectDeps,
  { namespace, name }: WalkPod,
): Promise<KubeObject | undefined> {
  const found = listAtPath(await lab.get(pathOf(walk, namespace)), "items").find((item) => {
    const isOwn = textAtPath(item, "metadata", "name") === name;
    const isOwned = textAtPath(item, "metadata", "labels", POD_LABEL) === name;
    return (isOwn || isOwned) && textAtPath(item, "metadata", "deletionTimestamp") === undefined;
  });
  return found === undefined ? undefined : parseKubeObject(found);
}

async function assertFate(
  walk: ClusterWalk,
  deps: SubjectDeps,
  { pod, fate }: { readonly pod: WalkPod; readonly fate: Fate },
): Promise<void> {
  const { lab, architectures } = deps;
  const fits = [...architectures.values()].some((architecture) => fate.on.includes(architecture));
  let last: PodFate | undefined;
  await waitUntil(`pod "${pod.name}": ${fits ? fate.kind : "no node fits"}`, async () => {
    const found = await findPod(walk, deps, pod);
    if (found === undefined) return false;
    if (!fits) return isUnschedulable(found);
    const fates = await readFates(lab, walk.place(pod.namespace));
    last = fates.find(({ name }) => name === found.metadata.name);
    if (last?.node === undefined) return false;
    const isThere = fate.on.includes(architectures.get(last.node) ?? "");
    if (!isThere || last.faults.includes("exec format error")) throw new GiveUp(new Error("wrong node"));
    return fate.kind === "runs"
      ? last.isGood
      : last.faults.some((fault) => /ErrImagePull|ImagePullBackOff/.test(fault));
  }, { deadlineMs: PATIENCE_MS, intervalMs: 500 }).catch((cause: unknown) => {
    throw new Error(`"${pod.name}" should come to ${JSON.stringify(fate)}, not ${JSON.stringify(last)}`, { cause });
  });
}

function isUnschedulable(pod: KubeObject): boolean {
  return listAtPath(pod, "status", "conditions").some((each) =>
    textAtPath(each, "type") === "PodScheduled" && textAtPath(each, "reason") === "Unschedulable"
  );
}
