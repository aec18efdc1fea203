// `archway explain pod/NAME`: why a pod is where it is, from what is written on it, and what to do next.
import type { Clock } from "../clock.ts";
import { ignoring, type ReadApi, readOptional, serverNowMs } from "../k8s/api.ts";
import { podTarget } from "../config/positionals.ts";
import { type KubeObject, Resource } from "../k8s/types.ts";
import { AUDIT_NAMESPACE_LABEL, CLUSTER_CONFIG_NAME, SCHEDULING_GATE } from "../names.ts";
import type { ImageOutcome } from "../placement/decide/decision_types.ts";
import type { PlacementSettings } from "../placement/decide/config/settings.ts";
import { judgeImages } from "../placement/decide/judge_images.ts";
import { MAX_IMAGES, pinnedImages } from "../placement/decide/images_to_inspect.ts";
import { offeredByNode } from "../placement/decide/offered_architectures.ts";
import { pullIdentityOf } from "../placement/decide/pod/pod_refs.ts";
import { containersToKnow, type LateImages, lateImagesEvent, pinEvent } from "../placement/decide/events/mismatches.ts";
import type { PodImageInspector } from "../placement/images/pod_image_inspector.ts";
import { explainPod } from "../placement/decide/explain/explain.ts";
import {
  type ExplainContext,
  failingContainer,
  type Participation,
  type PodExplanation,
  type PodStage,
} from "../placement/decide/explain/pod_explanation.ts";
import { parsePod, type PodView } from "../placement/decide/pod/pod_view.ts";
import { findCondition, parseConditions } from "../vocabulary/condition.ts";
import { memberOf, objectAt } from "../json.ts";
import { CLUSTER_SELECTOR_BOUNDS, matchesSelector, parseSelector } from "../vocabulary/label_selector.ts";
import { readExecFormatErrors } from "./explain_exec_format.ts";
import { type Color, ExitCode, layOut, type OutputFormat, paint, print, renderTable, type Terminal } from "./output.ts";
import { isForbidden, isMissingOrForbidden } from "../k8s/api_error.ts";

interface ExplainDeps {
  readonly api: ReadApi;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called only for a pod whose images must be compared with its architectures or its node. */
  readonly openImages: () => Promise<AsyncDisposable & Pick<PodImageInspector, "inspect">>;
}

/** Reads the pod and explains it. Returns 1 when there is no such pod. */
export async function runExplain(
  deps: ExplainDeps,
  options: {
    readonly positionals: readonly string[];
    /** The namespace of a pod that is named without one. */
    readonly podNamespace: string;
    readonly output: OutputFormat;
    /** From the files of --config. */
    readonly settings: PlacementSettings;
  },
): Promise<number> {
  const { api, terminal, signal } = deps;
  const target = podTarget(options.positionals[0] ?? "", options.podNamespace);
  const object = await readOptional(api, { type: Resource.pods, ...target, signal });
  const pod = parsePod(object);
  if (object === undefined || pod === undefined) {
    terminal.err(`archway: ${missing(target)}\n`);
    return ExitCode.no;
  }
  const config = await readClusterConfig(api, signal);
  const failing = failingContainer(object);
  const execFormatErrors = await readExecFormatErrors(deps, pod, signal);
  const explanation = explainPod(pod, {
    ageMs: ageOf(pod, deps),
    schedulerSays: schedulerSays(object),
    failing,
    participation: await readParticipation(api, { pod, config, signal }),
    gatingStopped: gatingStopped(config),
    execFormatErrors,
    // A failure that happened says more than an image that may fail.
    mismatches: execFormatErrors.length > 0 ? [] : await readMismatches(deps, pod, { ...options, failing }),
  });
  const text = (): string => renderText(pod, explanation, terminal);
  print(terminal, options.output, { document: documentOf(pod, explanation), text });
  return ExitCode.done;
}

function documentOf({ namespace, name, nodeName: node, record }: PodView, explanation: PodExplanation): unknown {
  const { stage, summary, why, next } = explanation;
  return { namespace, pod: name, state: stage, node, explanation: [summary, ...why], next, record: record ?? null };
}

function missing({ namespace, name }: ReturnType<typeof podTarget>): string {
  return `Cannot explain pod "${name}": there is none in namespace "${namespace}". ` +
    "Name it as pod/NAME with -n NAMESPACE, or as NAMESPACE/NAME. Where its owner cannot create it (a quota, another " +
    `webhook), the owner's events say why: kubectl get events -n ${namespace} --field-selector reason=FailedCreate`;
}

function ageOf({ createdMs }: PodView, { api, clock }: ExplainDeps): number | undefined {
  return createdMs === undefined ? undefined : serverNowMs(clock, api) - createdMs;
}

/** Warnings about images that have none of the architectures which the pod pins, or lack that of its node. */
async function readMismatches(
  { api, signal, openImages }: ExplainDeps,
  pod: PodView,
  { settings, failing }: { readonly settings: PlacementSettings; readonly failing: ExplainContext["failing"] },
): Promise<readonly string[]> {
  const pinned = pinnedImages(pod, settings);
  const late = lateContainers(pod, failing);
  const uses = late.flatMap(({ containers }) => containersToKnow(pod, containers, settings)).map(({ image }) => image);
  const wanted = [...new Set([...pinned.map(({ image }) => image), ...uses])]
    .map((image) => ({ image, pullsAlways: false }));
  if (wanted.length === 0 || wanted.length > MAX_IMAGES) return [];
  await using images = await openImages();
  const request = { identity: pullIdentityOf(pod), images: wanted, possibleBundles: wanted.map(({ image }) => image) };
  const facts = await images.inspect({ ...request, priority: "admission" }, signal);
  const nodeArchitecture = late.length === 0 ? undefined : await readArchitecture(api, pod.nodeName, signal);
  const reports = [
    pinned.length === 0 ? undefined : pinEvent(pod, judgeImages(pod, settings, pinned, facts)),
    ...late.map((one) => lateImagesEvent(pod, { ...one, settings, nodeArchitecture, images: facts })),
  ];
  return reports.flatMap((report) => report === undefined ? [] : [report.message]);
}

/**
 * Containers without a decision: ephemeral ones, and those whose image the pod's decision does not name. Other
 * containers of a pod without a decision count only while the pod fails.
 */
function lateContainers(
  pod: PodView,
  failing: ExplainContext["failing"],
): readonly LateImages[] {
  const { nodeName, record, ephemeralContainers, containers } = pod;
  if (nodeName === "") return [];
  const decided = record?.decision === "place" && record.omitted === 0 ? record.images : undefined;
  const exchanged = decided === undefined
    ? failing === undefined ? [] : containers
    : containers.filter(({ image }) => !decided.some((one) => one.image === image));
  return [
    { came: "exchanged", containers: exchanged } as const,
    { came: "ephemeral", containers: ephemeralContainers } as const,
  ].filter((one) => one.containers.length > 0);
}

/** undefined without the right to read nodes; then the pod's own requirements must tell. */
async function readArchitecture(api: ReadApi, name: string, signal: AbortSignal): Promise<string | undefined> {
  const node = await ignoring(isMissingOrForbidden, api.get(Resource.nodes, { name }, signal));
  return node === undefined ? undefined : offeredByNode(node)[0];
}

/** The scheduler's message when it found no node. Source: the condition PodScheduled. */
function schedulerSays(pod: KubeObject): string | undefined {
  const scheduled = findCondition(parseConditions(pod.status), "PodScheduled");
  return scheduled?.reason === "Unschedulable" ? scheduled.message || "no reason given" : undefined;
}

type ReadConfig = KubeObject | "absent" | "refused";

/** `refused` without the right to read it; then what depends on the config stays unknown. */
async function readClusterConfig(api: ReadApi, signal: AbortSignal): Promise<ReadConfig> {
  const read = readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal });
  return await ignoring(isForbidden, read.then((object): ReadConfig => object ?? "absent")) ?? "refused";
}

function gatingStopped(config: ReadConfig): string | undefined {
  const stopped = findCondition(parseConditions(objectAt(config, "status")), "GatingStopped");
  return stopped?.status === "True" ? `${stopped.reason}. ${stopped.message}` : undefined;
}

/** Whether Archway acts on the pod. Asks the API server only about a pod without the gate's label. */
async function readParticipation(
  api: ReadApi,
  { pod, config, signal }: { readonly pod: PodView; readonly config: ReadConfig; readonly signal: AbortSignal },
): Promise<Participation> {
  if (pod.labels !== undefined && SCHEDULING_GATE in pod.labels) return "selected";
  if (config === "refused") return "unread";
  if (config === "absent") return "off";
  const namespace = await ignoring(isMissingOrForbidden, api.get(Resource.namespaces, { name: pod.namespace }, signal));
  if (namespace === undefined) return "unread";
  const { labels } = namespace.metadata;
  if (labels?.[AUDIT_NAMESPACE_LABEL.key] === AUDIT_NAMESPACE_LABEL.value) return "audited";
  const written = memberOf(objectAt(config, "spec"), "namespaceSelector");
  return matchesSelector(parseSelector(written, CLUSTER_SELECTOR_BOUNDS), labels) ? "selected" : "not-selected";
}

const COLOR: Readonly<Record<PodStage, Color>> = {
  gated: "yellow",
  held: "yellow",
  pending: "yellow",
  unschedulable: "red",
  scheduled: "green",
  failing: "red",
};

const TROUBLED: readonly string[] = ["nowhere", "fallback", "release"];

function renderText(
  pod: PodView,
  { stage, summary, why, next }: PodExplanation,
  { color: isColored, columns = Infinity }: Terminal,
): string {
  const { record } = pod;
  const rows = Object.entries({ Why: why, Next: next.length === 0 ? ["Nothing to do."] : next })
    .flatMap(([title, sentences]) => sentences.map((sentence, at) => [at === 0 ? title : "", sentence]));
  const [name = "", stands = "", ...others] = layOut(
    [["Pod", `${pod.namespace}/${pod.name}`], ["State", summary], ...rows],
    columns,
  );
  const color = TROUBLED.includes(record?.decision ?? "") ? "red" : COLOR[stage];
  const painted = stands.replaceAll(/(?<=^.{8}).+$/gm, (text) => isColored ? paint(text, color) : text);
  const images = record === undefined || record.images.length === 0 ? "" : `\n${renderImages(record.images, columns)}`;
  return `${name}${painted}${others.join("")}${images}`;
}

function renderImages(images: readonly ImageOutcome[], width: number): string {
  const rows = images.map(({ image, digest, architectures, source }) => [
    image,
    source === "failed" ? "could not be inspected" : architectures.join(", ") || "none that is usable",
    source,
    digest.slice(0, 19),
  ]);
  return renderTable(["IMAGE", "ARCHITECTURES", "SOURCE", "DIGEST"], rows, width);
}
