// The checks, each a question to the cluster and what was seen.
import { listAt, objectAt, textAt } from "../../lib/json.ts";
import { type KubeApi, type ReadApi, readOptional } from "../../lib/k8s/api.ts";
import { isNotFound } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { API_GROUP, CLUSTER_CONFIG_NAME, PodAnnotation, SCHEDULING_GATE } from "../../lib/names.ts";
import { parseReference } from "../../lib/oci/reference.ts";
import { parseRecord } from "../../lib/placement/decide/pod/record.ts";
import { checkCapabilities } from "./capabilities.ts";
import { conditionOf, type EndToEndCluster } from "./cluster.ts";
import type { EndToEndOptions } from "./options.ts";
import { type CheckOutcome, failed, passed, type Seen } from "./outcome.ts";

export interface CheckDeps {
  readonly api: KubeApi;
  readonly signal: AbortSignal;
  readonly cluster: EndToEndCluster;
  readonly options: EndToEndOptions;
  /** The text of Archway's metrics; rejects with the reason when they cannot be read. */
  readonly readMetrics: () => Promise<string>;
}

/** Nothing can be checked: the message says why, and what to do. */
export class NothingToCheck extends Error {
  override readonly name = "NothingToCheck";
}

/** Throws {@link NothingToCheck} where Archway is not installed, or has no config. */
export async function requireArchway(api: ReadApi, signal: AbortSignal): Promise<void> {
  try {
    await api.raw(`/apis/${API_GROUP}/v1beta1`, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new NothingToCheck(
      `Cannot check Archway: the API group ${API_GROUP} is unknown here. Install it first: README.md.`,
    );
  }
  if (await readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal }) !== undefined) {
    return;
  }
  throw new NothingToCheck(
    "Cannot check Archway: pod placement is off. Create a ClusterPodPlacementConfig named cluster: README.md shows one.",
  );
}

export async function runChecks(deps: CheckDeps): Promise<readonly CheckOutcome[]> {
  const { options: { images } } = deps;
  const [first = ""] = images;
  const checks: readonly (readonly [string, () => Promise<Seen>])[] = [
    ["config is Available", () => configAvailable(deps)],
    ...images.map((image, at) => [`${image} is placed`, () => placed(deps, { name: `placed-${at}`, image })] as const),
    ["pinned pod is left alone", () => leftAlone(deps, first)],
    ["unknown image is reported", () => unknownImage(deps, first)],
    ["metrics", () => metrics(deps)],
  ];
  const outcomes: CheckOutcome[] = [];
  for (const [check, look] of checks) outcomes.push({ check, ...await attempt(look) });
  return [...outcomes, ...await checkCapabilities(deps)];
}

async function attempt(look: () => Promise<Seen>): Promise<Seen> {
  try {
    return await look();
  } catch (error) {
    return failed(errorText(error));
  }
}

async function configAvailable({ cluster }: CheckDeps): Promise<Seen> {
  const available = await cluster.until(async () => {
    const found = conditionOf(await cluster.clusterConfig(), "Available");
    return found.status === "True" ? found : undefined;
  });
  if (available !== undefined) return passed(available.message);
  const { message } = conditionOf(await cluster.clusterConfig(), "Available");
  return failed(
    `${message || "It has no condition Available: no replica has seen it."} See its conditions, and Archway's log.`,
  );
}

function gateLabel(pod: KubeObject): string {
  return pod.metadata.labels?.[SCHEDULING_GATE] ?? "";
}

function isGated(pod: KubeObject): boolean {
  const gates = listAt(objectAt(pod, "spec"), "schedulingGates") ?? [];
  return gates.some((gate) => textAt(gate, "name") === SCHEDULING_GATE);
}

async function placed(
  { cluster, options }: CheckDeps,
  { name, image }: { readonly name: string; readonly image: string },
): Promise<Seen> {
  await cluster.create({ name, image });
  const released = await cluster.until(async () => {
    const pod = await cluster.read(name);
    return isGated(pod) ? undefined : pod;
  });
  if (released === undefined) return failed("It is still gated: archway explain says why.");
  if (gateLabel(released) === "") {
    return failed("The webhook did not see it: does spec.namespaceSelector select its namespace (--namespace-label)?");
  }
  const record = parseRecord(released.metadata.annotations?.[PodAnnotation.decision]);
  if (record?.decision !== "place") return failed(await warningOf(cluster, name) ?? "It has no decision record.");
  const bound = await cluster.until(async () => {
    const pod = await cluster.read(name);
    return textAt(objectAt(pod, "spec"), "nodeName") === "" ? undefined : pod;
  });
  const names = `{${record.architectures.join(", ")}}`;
  if (bound === undefined) {
    return failed(
      `Placed on ${names}, and not bound: ${conditionOf(await cluster.read(name), "PodScheduled").message}`,
    );
  }
  const node = textAt(objectAt(bound, "spec"), "nodeName");
  const architecture = await cluster.architectureOf(node);
  if (architecture !== undefined && !record.architectures.includes(architecture)) {
    return failed(`Placed on ${names}, and bound to ${node}, which is ${architecture}.`);
  }
  const where = `placed on ${names}, bound to ${node}${architecture === undefined ? "" : ` (${architecture})`}`;
  return options.run ? await running(cluster, { name, where }) : passed(where);
}

async function running(
  cluster: EndToEndCluster,
  { name, where }: { readonly name: string; readonly where: string },
): Promise<Seen> {
  const ready = await cluster.until(async () => {
    return conditionOf(await cluster.read(name), "Ready").status === "True" ? true : undefined;
  });
  if (ready === true) return passed(`${where}, runs`);
  return failed(`${where}, and does not run: ${await warningOf(cluster, name) ?? "see kubectl describe pod"}`);
}

async function leftAlone({ cluster }: CheckDeps, image: string): Promise<Seen> {
  const name = "left-alone";
  await cluster.create({ name, image, nodeSelector: { "kubernetes.io/arch": "amd64" } });
  const pod = await cluster.read(name);
  if (isGated(pod)) return failed("It was gated, although its nodeSelector names the architecture.");
  const label = gateLabel(pod);
  return label === "not-set"
    ? passed("not gated")
    : failed(`Its label ${SCHEDULING_GATE} is "${label}", not "not-set".`);
}

async function unknownImage({ cluster }: CheckDeps, image: string): Promise<Seen> {
  const parsed = parseReference(image);
  const registry = parsed.kind === "unparsable" ? "" : parsed.value.domain;
  const name = "unknown-image";
  await cluster.create({ name, image: `${registry}/archway-e2e/no-such-image:v1` });
  const told = await cluster.until(async () => (await warningsOf(cluster, name)).find(isAboutImage));
  if (told === undefined) return failed("No Warning of Archway on the pod.");
  const free = await cluster.until(async () => isGated(await cluster.read(name)) ? undefined : true);
  return free === true ? passed(told) : failed(`It is still gated: ${told}`);
}

/** What Archway says of an image; a pod that passed it by has other Warnings, of Archway, too. */
function isAboutImage(warning: string): boolean {
  return /^ArchAware(?:InspectionError|FallbackPredicateSet) /.test(warning);
}

/** The first Warning that Archway, or else anybody, wrote about the pod. */
async function warningOf(cluster: EndToEndCluster, name: string): Promise<string | undefined> {
  const warnings = await warningsOf(cluster, name);
  return warnings.find((warning) => /^(?:ArchAware|NoSupportedArchitectures)/.test(warning)) ?? warnings[0];
}

/** Reason and message of each Warning about the pod, whoever wrote it. */
async function warningsOf(cluster: EndToEndCluster, name: string): Promise<readonly string[]> {
  const events = await cluster.events(name);
  return events.filter((event) => event.startsWith("Warning ")).map((event) => event.slice("Warning ".length));
}

async function metrics({ readMetrics }: CheckDeps): Promise<Seen> {
  let text: string;
  try {
    text = await readMetrics();
  } catch (error) {
    return { result: "skipped", detail: errorText(error) };
  }
  const families = new Set([...text.matchAll(/^# TYPE ((?:mto|archway)_\w+)/gm)].map(([, name]) => name));
  return families.size > 0
    ? passed(`${families.size} metrics of Archway`)
    : failed("What answers there is not Archway.");
}
