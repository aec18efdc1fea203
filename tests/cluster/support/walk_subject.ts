// The subject of the walks on a real control plane: Archway under its ServiceAccount, the walks' registries, and kwok's nodes,
// on which the real scheduler puts the pods. Namespaces of a walk get a number, since a namespace takes long to go.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { parseKubeObject } from "../../../lib/k8s/kube_object.ts";
import { apiVersionOf, type KubeObject, Resource, resourcePath, type ResourceType } from "../../../lib/k8s/types.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import { issueLoopbackCertificates } from "../../../lib/playground/certificates.ts";
import { listAt, objectAt, textAt } from "../../../lib/playground/json_value.ts";
import {
  DEAD_HOST,
  openWalkRegistries,
  OPERATOR_NAMESPACE,
  renderRegistriesConf,
  type WalkRegistries,
} from "../../support/walk/registries.ts";
import type { WalkSetting, WalkSubject } from "../../support/walk/subject.ts";
import { installArchway, startArchway } from "./archway.ts";
import { type ClusterAccess, expectStatus } from "./cluster_access.ts";
import { startControlPlane } from "./control_plane.ts";
import { listNodeArchitectures } from "./pods.ts";
import { SHARED_NODES } from "./shared_nodes.ts";
import { GiveUp, waitUntil } from "./wait.ts";

/** Longer than the walks on the playground take: forty pods are gated at once here, by processes that share the machine. */
const MAX_GATE_AGE = "--max-gate-age=15s";
/** Some pods are privileged; and pods name owners that are not made, for which the garbage collector would delete them. */
const FLAGS = {
  "kube-apiserver": ["--allow-privileged=true"],
  "kube-controller-manager": ["--controllers=*,-garbage-collector-controller"],
};
const PATIENCE_MS = 60_000;
const KEPT_NAMES = [OPERATOR_NAMESPACE, "openshift-config"];
/** Kwok lets the pods of a Job end. */
const RAN = ["Running", "Succeeded"];
const ARCHITECTURE = "kubernetes.io/arch";

/** A control plane with Archway before it. */
export interface WalkCluster extends AsyncDisposable {
  /** Lays out a walk: namespaces, what `prepare` makes, then the cluster config. Resolves when pods are gated. */
  begin(setting: WalkSetting, prepare?: (walk: WalkSubject) => Promise<void>): Promise<WalkSubject>;
}

/** Opens it with one replica. */
export async function openWalkCluster(): Promise<WalkCluster> {
  await using undo = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "archway-walk-" });
  undo.defer(() => Deno.remove(folder, { recursive: true }));
  const certificates = await issueLoopbackCertificates(systemClock.nowMs());
  const registries = undo.use(await openWalkRegistries(certificates.serving));
  const cluster = undo.use(await startControlPlane({ flags: FLAGS }));
  const [kubeconfigFile] = await Promise.all([installArchway(cluster), cluster.addNodes(SHARED_NODES)]);
  await post(cluster, Resource.namespaces, { metadata: { name: "openshift-config" } });
  // The walk's pods are not restricted, and one of them goes to the service's own namespace.
  const metadata = { labels: { "pod-security.kubernetes.io/enforce": "privileged" } };
  const operator = resourcePath(Resource.namespaces, { name: OPERATOR_NAMESPACE });
  expectStatus("relabel the namespace", await cluster.request("PATCH", operator, { metadata }), [200]);
  await Deno.writeTextFile(`${folder}/ca.crt`, certificates.authority);
  await Deno.writeTextFile(`${folder}/registries.conf`, renderRegistriesConf(registries));
  undo.use(
    await startArchway({
      kubeconfigFile,
      registries: [
        { host: registries.host, caFile: `${folder}/ca.crt` },
        { host: registries.untrustedHost },
        { host: DEAD_HOST },
      ],
      args: [
        `--insecure-registry=${registries.insecureHost}`,
        `--registries-conf=${folder}/registries.conf`,
        MAX_GATE_AGE,
      ],
    }),
  );
  const nodes = await listNodeArchitectures(cluster);
  let begun = 0;
  const owned = undo.move();
  return {
    begin: async (setting, prepare) => {
      const subject = subjectOf(cluster, { registries, nodes, number: ++begun });
      await layOut(subject, setting, prepare);
      return subject;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function layOut(
  subject: WalkSubject,
  { spec, namespaces }: WalkSetting,
  prepare?: (walk: WalkSubject) => Promise<void>,
): Promise<void> {
  for (const [name, labels] of Object.entries(namespaces)) {
    await subject.create("Namespace", { metadata: { name, labels } });
  }
  // Namespace configs are refused while there is no cluster config.
  await subject.create("ClusterPodPlacementConfig", { metadata: { name: "cluster" }, spec });
  await prepare?.(subject);
  await subject.until(
    "the webhook is registered",
    async () => (await subject.names("MutatingWebhookConfiguration")).length > 0,
  );
}

interface SubjectDeps {
  readonly registries: WalkRegistries;
  readonly nodes: ReadonlyMap<string, string>;
  readonly number: number;
}

function subjectOf(cluster: ClusterAccess, { registries, nodes, number }: SubjectDeps): WalkSubject {
  const place = (namespace: string): string => KEPT_NAMES.includes(namespace) ? namespace : `${namespace}-${number}`;
  const targetOf = (
    name: string,
    namespace: string | undefined,
  ): { readonly name: string; readonly namespace?: string } =>
    namespace === undefined ? { name } : { name, namespace: place(namespace) };
  const read = async (namespace: string, name: string): Promise<KubeObject> => {
    const answer = await cluster.request("GET", resourcePath(Resource.pods, targetOf(name, namespace)));
    expectStatus(`read pod "${name}"`, answer, [200]);
    return parseKubeObject(answer.body);
  };
  return {
    ...registries,
    create: async (kind, body, namespace) => {
      const type = typeNamed(kind);
      const metadata = objectAt(body, "metadata");
      const named = kind === "Namespace"
        ? { ...body, metadata: { ...metadata, name: place(textAt(metadata, "name") ?? "") } }
        : body;
      return await post(cluster, type, named, namespace === undefined ? {} : { namespace: place(namespace) });
    },
    remove: async (kind, name, namespace) => {
      const answer = await cluster.request("DELETE", resourcePath(typeNamed(kind), targetOf(name, namespace)));
      expectStatus(`delete ${kind} "${name}"`, answer, [200, 202]);
    },
    names: async (kind) => {
      const { body } = await cluster.request("GET", resourcePath(typeNamed(kind)));
      return listAt(body, "items").map((item) => textAt(item, "metadata", "name") ?? "");
    },
    decided: async (namespace, name) => {
      const pod = await read(namespace, name);
      const gates = listAt(pod, "spec", "schedulingGates").map((gate) => textAt(gate, "name"));
      return gates.includes(SCHEDULING_GATE) ? undefined : pod;
    },
    until: async (what, holds) => void await waitUntil(what, holds, { deadlineMs: PATIENCE_MS }),
    assertRuns: async (namespace, name) => {
      const pod = await waitUntil(`pod "${name}" runs`, async () => {
        const now = await read(namespace, name);
        return RAN.includes(textAt(now, "status", "phase") ?? "") ? now : undefined;
      }, { deadlineMs: PATIENCE_MS });
      const allowed = architecturesOf(pod);
      const node = textAt(pod, "spec", "nodeName") ?? "";
      assert.ok(allowed.includes(nodes.get(node) ?? ""), `"${name}" runs on ${node}, but may on ${allowed}`);
    },
  };
}

/** Every architecture that a term of the pod names. */
function architecturesOf(pod: KubeObject): readonly unknown[] {
  const required = objectAt(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
  return listAt(required, "nodeSelectorTerms")
    .flatMap((term) => listAt(term, "matchExpressions"))
    .filter((expression) => textAt(expression, "key") === ARCHITECTURE)
    .flatMap((expression) => listAt(expression, "values"));
}

function typeNamed(kind: string): ResourceType {
  const type = Object.values(Resource).find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`no kind ${kind}`);
  return type;
}

/** Creates an object; the validating webhooks fail closed until they have the CA, so a refusal by them is tried again. */
async function post(
  cluster: ClusterAccess,
  type: ResourceType,
  body: Readonly<Record<string, unknown>>,
  target: { readonly namespace?: string } = {},
): Promise<unknown> {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...body };
  return await waitUntil(`${type.kind} is created`, async () => {
    const answer = await cluster.request("POST", resourcePath(type, target), object);
    if (answer.status === 500 || answer.status === 403) throw new Error(JSON.stringify(answer.body));
    if (answer.status === 201) return answer.body ?? true;
    throw new GiveUp(new Error(`Cannot create ${type.kind}: ${answer.status} ${JSON.stringify(answer.body)}`));
  });
}
