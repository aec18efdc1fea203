// What can be known before any Job runs: inputs that cannot be built, images and rights that are missing.
import { canonicalKernel, checkContainerfile, KERNEL_64K, unknownExtensions } from "../plan/containerfile.ts";
import type { KnownArchitecture } from "../../../arch.ts";
import {
  type BuildNode,
  questionKey,
  type RegistryAnswer,
  type RegistryQuestion,
  type RegistryWait,
} from "../observed.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import type { BuildFailureReason, BuildPlan } from "../types.ts";
import type { AddedToleration, Taint } from "../../../vocabulary/taint.ts";

interface PreflightFailure {
  readonly arch: KnownArchitecture;
  readonly reason: BuildFailureReason;
  readonly message: string;
}

export type Preflight =
  | { readonly kind: "ready" }
  | { readonly kind: "ask"; readonly questions: readonly RegistryQuestion[] }
  | RegistryWait
  | { readonly kind: "failed"; readonly failures: readonly PreflightFailure[] };

interface PreflightInput {
  readonly plan: BuildPlan;
  readonly rendered: RenderedConfig;
  readonly archs: readonly KnownArchitecture[];
  readonly answers: ReadonlyMap<string, RegistryAnswer>;
}

export function preflight(input: PreflightInput): Preflight {
  const failures = staticFailures(input);
  if (failures.length > 0) return { kind: "failed", failures };
  const { rendered, plan, answers } = input;
  const questions: readonly RegistryQuestion[] = [
    ...new Set([plan.repository, plan.jobRepository]).values().map((repository): RegistryQuestion => ({
      kind: "push",
      repository,
    })),
    ...baseImagesOf(rendered).map((reference): RegistryQuestion => ({ kind: "platforms", reference })),
  ];
  const unasked = questions.filter((question) => !answers.has(questionKey(question)));
  if (unasked.length > 0) return { kind: "ask", questions: unasked };
  const answered = questions.flatMap((question) => {
    const answer = answers.get(questionKey(question));
    return answer === undefined ? [] : [{ question, answer }];
  });
  const failed = answered.flatMap((one) => registryFailures(one, input));
  if (failed.length > 0) return { kind: "failed", failures: failed };
  const [unknown] = answered.flatMap(({ answer }) => answer.kind === "unknown" ? [answer] : []);
  return unknown === undefined ? { kind: "ready" } : { ...unknown, kind: "wait" };
}

function baseImagesOf({ osImageURL, extensionsImage, extensions, kernelType }: RenderedConfig): readonly string[] {
  const isUsed = extensions.length > 0 || canonicalKernel(kernelType) !== "default";
  return extensionsImage === "" || !isUsed ? [osImageURL] : [osImageURL, extensionsImage];
}

const RECORDABLE = /^([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?\/([a-zA-Z0-9-_]{0,61}\/)?[a-zA-Z0-9-_.]*?$/;

/** Whether a MachineOSConfig can say `repository@digest`: its definition allows one namespace before the name. */
export function isRecordable(repository: string): boolean {
  return RECORDABLE.test(repository);
}

function staticFailures({ plan, rendered, archs }: PreflightInput): readonly PreflightFailure[] {
  const forAll = (reason: BuildFailureReason, message: string): readonly PreflightFailure[] =>
    archs.map((arch) => ({ arch, reason, message }));
  if (!isRecordable(plan.repository)) {
    const message =
      `"${plan.repository}" has more than one part before its last name: no MachineOSConfig can say which ` +
      "image was pushed there.";
    return forAll("PushSpecNotRecordable", message);
  }
  const unknown = unknownExtensions(rendered.extensions);
  if (unknown.length > 0) {
    return forAll("UnknownExtension", `No packages are known for extension ${unknown.slice(0, 8).join(", ")}.`);
  }
  const texts = plan.builds.filter(({ arch }) => archs.includes(arch)).flatMap(({ arch, containerfile }) => {
    const problem = checkContainerfile(containerfile);
    return problem === undefined ? [] : [{
      arch,
      reason: "InvalidContainerfile" as const,
      message: `The Containerfile for ${arch} cannot be built: ${problem}.`,
    }];
  });
  if (texts.length > 0) return texts;
  return rendered.kernelType !== KERNEL_64K ? [] : archs.filter((arch) => arch !== "arm64").map((arch) => ({
    arch,
    reason: "KernelTypeUnsupported",
    message: `There is no ${KERNEL_64K} kernel for ${arch}, only for arm64.`,
  }));
}

function registryFailures(
  { question, answer }: { readonly question: RegistryQuestion; readonly answer: RegistryAnswer },
  { archs }: Pick<PreflightInput, "archs">,
): readonly PreflightFailure[] {
  if (question.kind === "push") {
    if (answer.kind !== "denied") return [];
    return archs.map((arch) => ({ arch, reason: "PushDenied", message: answer.message }));
  }
  const { reference } = question;
  const lacks = (arch: KnownArchitecture, state: string): PreflightFailure => ({
    arch,
    reason: "BaseImageLacksArchitecture",
    message:
      `"${reference}" ${state}. A payload of one architecture has images of that one only: the cluster must be moved ` +
      "to a multi-architecture payload first.",
  });
  if (answer.kind === "absent") return archs.map((arch) => lacks(arch, "does not exist"));
  if (answer.kind !== "platforms") return [];
  return archs.filter((arch) => !answer.architectures.includes(arch)).map((arch) =>
    lacks(arch, `has no image for ${arch}, only for ${answer.architectures.join(", ") || "none"}`)
  );
}

type NodesFor =
  | { readonly kind: "some"; readonly tolerations: readonly AddedToleration[] }
  | { readonly kind: "none"; readonly message: string };

const REPELLING_EFFECTS: readonly string[] = ["NoSchedule", "NoExecute"];
/** Taints by which Kubernetes marks a node's problem, such as `node.kubernetes.io/not-ready`: never tolerated. */
const PROBLEM_TAINT = /^node(?:\.cloudprovider)?\.kubernetes\.io\//;

export function nodesFor(
  arch: KnownArchitecture,
  { nodes, toleratesDedicated }: { readonly nodes: readonly BuildNode[]; readonly toleratesDedicated: boolean },
): NodesFor {
  const own = nodes.filter(({ reportedArchitecture, os }) => reportedArchitecture === arch && os !== "windows");
  if (own.length === 0) return { kind: "none", message: `No node of the cluster is of ${arch}.` };
  const usable = own.filter(({ isSchedulable, taints }) => isSchedulable && !taints.some(marksProblem));
  if (usable.length === 0) {
    return { kind: "none", message: `None of the ${own.length} nodes of ${arch} takes pods at the moment.` };
  }
  if (usable.some(({ taints }) => !taints.some(repels))) return { kind: "some", tolerations: [] };
  const shared = sharedTaints(usable);
  // Shared taints suffice only if a node has no others. If none is such, the node with the fewest taints counts.
  const [node] = usable.filter(({ taints }) => taints.filter(repels).length === shared.length);
  const tolerated = node === undefined ? fewestTaints(usable) : shared;
  if (toleratesDedicated) return { kind: "some", tolerations: tolerated.map(asToleration) };
  const keys = [...new Set(tolerated.map(({ key }) => key))].toSorted().join(", ");
  return { kind: "none", message: `Every node of ${arch} has a taint that Jobs do not tolerate: ${keys}.` };
}

function repels({ effect }: Taint): boolean {
  return REPELLING_EFFECTS.includes(effect);
}

function marksProblem(taint: Taint): boolean {
  return repels(taint) && PROBLEM_TAINT.test(taint.key);
}

function sharedTaints(nodes: readonly BuildNode[]): readonly Taint[] {
  const [first, ...rest] = nodes;
  return (first?.taints ?? []).filter((taint) =>
    repels(taint) && rest.every(({ taints }) => taints.some((other) => isSame(other, taint)))
  );
}

function fewestTaints(nodes: readonly BuildNode[]): readonly Taint[] {
  const [best] = nodes.map(({ name, taints }) => ({ name, taints: taints.filter(repels) }))
    .toSorted((left, right) => left.taints.length - right.taints.length || (left.name < right.name ? -1 : 1));
  return best?.taints ?? [];
}

function isSame(left: Taint, right: Taint): boolean {
  return left.key === right.key && left.value === right.value && left.effect === right.effect;
}

function asToleration({ key, value, effect }: Taint): AddedToleration {
  return { key, operator: "Equal", value, effect };
}
