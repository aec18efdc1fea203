// The workloads of the placement test: every kind of owner, with images of every shape from every kind of place.
import type { OpenLab } from "./open_lab.ts";

/** References of the images, by where they come from; names are those of LAB_IMAGES. */
export interface ImagePlaces {
  tag(name: string): string;
  digest(name: string): string;
  both(name: string): string;
  /** In a registry that wants the login of the pull secret `pull`. */
  login(name: string): string;
  /** By a host that does not exist, for which the nodes have a mirror. */
  mirror(name: string): string;
}

interface Container {
  readonly from: keyof ImagePlaces;
  readonly image: string;
  readonly command: "pause" | "hello";
}

export interface Workload {
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "CronJob" | "Pod";
  readonly name: string;
  /** Number of pods; a DaemonSet has one a node. */
  readonly pods: number;
  readonly containers: readonly Container[];
  readonly init?: readonly Container[];
  /** Init containers that go on (restartPolicy Always). */
  readonly sidecars?: readonly Container[];
  /** Images that are mounted, by tag. */
  readonly volumes?: readonly string[];
}

function run(image: string, from: keyof ImagePlaces = "tag"): Container {
  return { from, image, command: "pause" };
}

function end(image: string, from: keyof ImagePlaces = "tag"): Container {
  return { from, image, command: "hello" };
}

/** With three nodes. A workload of one image also has it as init container. */
export const WORKLOADS: readonly Workload[] = [
  { kind: "Deployment", name: "d-multi", pods: 2, containers: [run("multi")], init: [end("multi")] },
  { kind: "Deployment", name: "d-amd", pods: 2, containers: [run("amd-index")], init: [end("amd-index")] },
  { kind: "Deployment", name: "d-arm-index", pods: 2, containers: [run("arm-index")], init: [end("arm-index")] },
  { kind: "Deployment", name: "d-arm-single", pods: 2, containers: [run("arm-single")], init: [end("arm-single")] },
  { kind: "StatefulSet", name: "s-multi", pods: 2, containers: [run("multi")] },
  { kind: "StatefulSet", name: "s-amd", pods: 2, containers: [run("amd-single")] },
  { kind: "StatefulSet", name: "s-arm", pods: 2, containers: [run("arm-single")] },
  { kind: "StatefulSet", name: "s-both", pods: 1, containers: [run("multi"), run("arm-single")] },
  { kind: "DaemonSet", name: "ds-multi", pods: 3, containers: [run("multi")] },
  { kind: "Job", name: "j-multi", pods: 1, containers: [end("multi")] },
  { kind: "Job", name: "j-arm", pods: 2, containers: [end("arm-index")] },
  { kind: "Job", name: "j-amd", pods: 2, containers: [end("amd-index")] },
  { kind: "CronJob", name: "c-arm", pods: 1, containers: [end("arm-single")] },
  { kind: "Pod", name: "p-arm", pods: 1, containers: [run("arm-single")] },
  { kind: "Pod", name: "p-amd", pods: 1, containers: [run("amd-single")] },
  { kind: "Pod", name: "p-init", pods: 1, containers: [run("multi")], init: [end("arm-single")] },
  { kind: "Pod", name: "p-sidecar", pods: 1, containers: [run("multi")], sidecars: [run("arm-single")] },
  { kind: "Pod", name: "p-volume-index", pods: 1, containers: [run("multi")], volumes: ["arm-index"] },
  { kind: "Pod", name: "p-volume-single", pods: 1, containers: [run("amd-single")], volumes: ["arm-single"] },
  { kind: "Pod", name: "p-digest", pods: 1, containers: [run("multi", "digest")] },
  { kind: "Pod", name: "p-digest-arm", pods: 1, containers: [run("arm-index", "digest")] },
  { kind: "Pod", name: "p-tag-digest", pods: 1, containers: [run("multi", "both")] },
  { kind: "Pod", name: "p-login", pods: 1, containers: [run("multi", "login")] },
  { kind: "Pod", name: "p-login-arm", pods: 1, containers: [run("arm-single", "login")] },
  { kind: "Pod", name: "p-mirror", pods: 1, containers: [run("multi", "mirror")] },
  { kind: "Pod", name: "p-mirror-arm", pods: 1, containers: [run("arm-single", "mirror")] },
];

export const POD_COUNT = WORKLOADS.reduce((sum, { pods }) => sum + pods, 0);

export async function createWorkloads(
  lab: OpenLab,
  namespace: string,
  { places }: { readonly places: ImagePlaces },
): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: WORKLOADS.map((workload) => render(workload, places)) };
  await lab.run(["-n", namespace, "apply", "-f", "-"], { stdin: JSON.stringify(list) });
  await lab.kubectl(["-n", namespace, "create", "job", "c-arm-now", "--from=cronjob/c-arm"]);
}

function render(workload: Workload, places: ImagePlaces): unknown {
  const { kind, name, pods } = workload;
  const labels = { workload: name };
  const object = (apiVersion: string, spec: object): object => ({ apiVersion, kind, metadata: { name }, spec });
  const spec = renderPodSpec(workload, places);
  const template = { metadata: { labels }, spec };
  const selector = { matchLabels: labels };
  switch (kind) {
    case "Pod":
      return { apiVersion: "v1", kind, metadata: { name, labels }, spec };
    case "Deployment":
      return object("apps/v1", { replicas: pods, selector, template });
    case "DaemonSet":
      return object("apps/v1", { selector, template });
    case "StatefulSet":
      return object("apps/v1", {
        replicas: pods,
        serviceName: name,
        podManagementPolicy: "Parallel",
        selector,
        template,
      });
    case "Job":
      return object("batch/v1", renderJob(template, pods));
    case "CronJob":
      return object("batch/v1", { schedule: "0 0 1 1 *", jobTemplate: { spec: renderJob(template, pods) } });
  }
}

function renderJob(template: { readonly metadata: unknown; readonly spec: object }, pods: number): object {
  const spec = { ...template.spec, restartPolicy: "Never" };
  return { backoffLimit: 2, completions: pods, parallelism: pods, template: { ...template, spec } };
}

function renderPodSpec({ containers, init = [], sidecars = [], volumes = [] }: Workload, places: ImagePlaces): object {
  const renderAll = (all: readonly Container[], { role, more = {} }: { role: string; more?: object }): object[] =>
    all.map(({ from, image, command }, at) => ({
      name: `${role}-${at}`,
      image: places[from](image),
      args: [command],
      terminationMessagePolicy: "FallbackToLogsOnError",
      ...more,
    }));
  const wantsLogin = containers.some(({ from }) => from === "login");
  return {
    terminationGracePeriodSeconds: 1,
    dnsPolicy: "Default",
    ...(wantsLogin ? { imagePullSecrets: [{ name: "pull" }] } : {}),
    initContainers: [
      ...renderAll(sidecars, { role: "sidecar", more: { restartPolicy: "Always" } }),
      ...renderAll(init, { role: "init" }),
    ],
    containers: renderAll(containers, {
      role: "app",
      more: { volumeMounts: volumes.map((_, at) => ({ name: `volume-${at}`, mountPath: `/volume-${at}` })) },
    }),
    volumes: volumes.map((image, at) => ({ name: `volume-${at}`, image: { reference: places.tag(image) } })),
  };
}
