// Pods on the nodes whose containers are to run programs of another architecture, and what their status says of them.
import assert from "node:assert/strict";
import { read } from "../../cluster/support/cluster_access.ts";
import type { PodName } from "../../cluster/support/pods.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import type { OpenLab } from "./open_lab.ts";
import { ensureNodePrograms } from "./programs.ts";
import { ensureStarter } from "./starter.ts";

const QUICK = { restartPolicy: "Never", dnsPolicy: "Default", terminationGracePeriodSeconds: 1 };
export const FOREIGN = "/programs/app-arm64";
export const ZEROS = "/zeros/zeros";

export interface SeenContainer {
  readonly id: string;
  /** When it was started (epoch ms). */
  readonly startedAtMs: number;
  /** When it was seen that the kubelet shows it. */
  readonly shownAtMs: number;
}

/** The only container of a list of a pod's status, once it has been started. */
export async function containerOf(
  lab: OpenLab,
  { namespace, name }: PodName,
  list = "containerStatuses",
): Promise<SeenContainer> {
  return await waitUntil(`the status of ${name}`, async () => {
    const status = read(await lab.get(`/api/v1/namespaces/${namespace}/pods/${name}`), "status", list, 0);
    const [id, state] = [read(status, "containerID"), read(status, "state")];
    const startedAt = read(state, "terminated", "startedAt") ?? read(state, "running", "startedAt");
    return id !== undefined && startedAt !== undefined &&
      { id: String(id), startedAtMs: Date.parse(String(startedAt)), shownAtMs: Date.now() };
  }, { deadlineMs: 60_000 });
}

/** What pins a pod to a node, and names the architecture, so that Archway leaves it alone. */
function pinTo(node: string): object {
  const arch = node === "n2" ? "arm64" : "amd64";
  return { ...QUICK, nodeSelector: { "kubernetes.io/arch": arch, "kubernetes.io/hostname": node } };
}

/** A pod on a node whose only container cannot be started there. */
export async function startWrong(
  lab: OpenLab,
  { namespace, node, image, name = `wrong-on-${node}` }: {
    readonly namespace: string;
    readonly node: string;
    readonly image: string;
    readonly name?: string;
  },
): Promise<PodName> {
  const containers = [{ name: "app", image: lab.image(image) }];
  await lab.createPod(namespace, { name, spec: { ...pinTo(node), containers } });
  return { namespace, name };
}

/** A pod on n1 whose init container cannot be started there. */
export async function startWrongInit(lab: OpenLab, namespace: string): Promise<PodName> {
  const initContainers = [{ name: "init", image: lab.image("arm-single"), args: ["hello"] }];
  const containers = [{ name: "app", image: lab.image("multi"), args: ["pause"] }];
  await lab.createPod(namespace, { name: "wrong-init", spec: { ...pinTo("n1"), initContainers, containers } });
  return { namespace, name: "wrong-init" };
}

export async function startQuiet(lab: OpenLab, { namespace, name }: PodName): Promise<void> {
  const containers = [{ name: "app", image: lab.image("multi"), args: ["pause"] }];
  await lab.createPod(namespace, { name, spec: { ...pinTo("n1"), containers } });
  await containerOf(lab, { namespace, name });
}

/** A pod on n1 with an ephemeral container that cannot be started there. */
export async function startWrongEphemeral(lab: OpenLab, namespace: string): Promise<PodName> {
  const pod = { namespace, name: "wrong-ephemeral" };
  await startQuiet(lab, pod);
  const ephemeralContainers = [{ name: "debug", image: lab.image("arm-single"), args: ["hello"] }];
  const path = `/api/v1/namespaces/${namespace}/pods/${pod.name}/ephemeralcontainers`;
  const contentType = "application/strategic-merge-patch+json";
  const answer = await lab.request("PATCH", path, { spec: { ephemeralContainers } }, { contentType });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return pod;
}

/** A pod on n1 whose container runs, and tries again and again to start a program that cannot be. */
export async function startLater(
  lab: OpenLab,
  { namespace, call, program }: {
    readonly namespace: string;
    readonly call: "execve" | "execveat";
    readonly program: string;
  },
): Promise<PodName> {
  const name = `later-${call}-${program === ZEROS ? "zeros" : "foreign"}`;
  const [programs, starter] = [await ensureNodePrograms(), await ensureStarter()];
  const zeros = await makeZeros(lab);
  const mounts = [["starter", starter.directory], ["programs", programs.directory], ["zeros", zeros]] as const;
  const container = {
    name: "app",
    image: lab.image("multi"),
    command: ["/starter/starter", call, program],
    volumeMounts: mounts.map(([volume]) => ({ name: volume, mountPath: `/${volume}`, readOnly: true })),
  };
  const volumes = mounts.map(([volume, path]) => ({ name: volume, hostPath: { path, type: "Directory" } }));
  await lab.createPod(namespace, { name, spec: { ...pinTo("n1"), containers: [container], volumes } });
  return { namespace, name };
}

/** A folder of the lab with the file of zeros. */
async function makeZeros(lab: OpenLab): Promise<string> {
  const folder = `${lab.lab.directory}/zeros`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeFile(`${folder}/zeros`, new Uint8Array(1_024), { mode: 0o755 });
  return folder;
}
