// What a test does with the nodes of this run: the cluster's access, pods by a short form, logs.
import { AdminConnection, type ClusterAccess, expectStatus } from "../../cluster/support/cluster_access.ts";
import { parseCoordinates } from "../../cluster/support/coordinates.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { removeLeftOvers } from "./left_overs.ts";
import { LAB_VARIABLE, type LabCoordinates } from "./lab.ts";
import type { NodeArch } from "./program_images.ts";

export interface LabPod {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly arch?: NodeArch;
}

/** The cluster of this run. Dispose it to close its connections; the nodes stay. */
export interface OpenLab extends ClusterAccess, AsyncDisposable {
  readonly lab: LabCoordinates;
  image(name: string): string;
  createPods(namespace: string, pods: readonly LabPod[]): Promise<void>;
  createPod(namespace: string, pod: { readonly name: string; readonly spec: unknown }): Promise<void>;
  /** What the only container of a pod printed, once the pod has ended; within a minute, or what is given. */
  logOfEnded(namespace: string, name: string, options?: { readonly deadlineMs: number }): Promise<string>;
}

/** Opens the lab that run.ts started. Of Archway nothing is there, unless what is there is to be kept. */
export async function openLab({ leftOvers = "removed" }: { readonly leftOvers?: "removed" | "kept" } = {}): Promise<
  OpenLab
> {
  const text = Deno.env.get(LAB_VARIABLE);
  if (text === undefined) throw new Error(`Cannot find the nodes: run the tests with "deno task test:node"`);
  const lab = JSON.parse(text) as LabCoordinates;
  const connection = new AdminConnection(parseCoordinates(lab.controlPlane));
  const { access } = connection;
  if (leftOvers === "removed") await removeLeftOvers(access);
  const image = (name: string): string => `${lab.registry}/t/${name}:v1`;
  const createPod: OpenLab["createPod"] = async (namespace, { name, spec }) => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
    // The ServiceAccount controller makes "default" a moment after the namespace.
    await waitUntil(`pod "${name}" to be created`, async () => {
      const answer = await access.request("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
      if (answer.status !== 403) expectStatus(`create pod "${name}"`, answer, [201]);
      return answer.status === 201;
    });
  };
  return await Promise.resolve({
    ...access,
    lab,
    image,
    createPods: async (namespace, pods) => {
      for (const pod of pods) await createPod(namespace, { name: pod.name, spec: renderSpec(pod, image) });
    },
    createPod,
    logOfEnded: async (namespace, name, { deadlineMs } = { deadlineMs: 60_000 }) => {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
      await waitUntil(
        `pod ${name} to end`,
        async () => /"phase":"(?:Succeeded|Failed)"/.test(JSON.stringify(await access.get(path))),
        { deadlineMs },
      );
      return String(await access.get(`${path}/log`));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(connection[Symbol.dispose]()),
  });
}

function renderSpec({ image, args = [], arch }: LabPod, reference: (name: string) => string): unknown {
  return {
    restartPolicy: "Never",
    // There is no DNS in the cluster.
    dnsPolicy: "Default",
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "app", image: reference(image), args }],
    ...(arch === undefined ? {} : { nodeSelector: { "kubernetes.io/arch": arch } }),
  };
}
