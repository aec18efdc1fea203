// What can be known before any Job runs: inputs that cannot be built, images and rights that are missing.
import { canonicalKernel, KERNEL_64K, unknownExtensions } from "../plan/containerfile.ts";
import { checkContainerfile } from "../plan/containerfile_syntax.ts";
import { isRecordable } from "../plan/repository.ts";
import {
  type Arch,
  questionKey,
  type RegistryAnswer,
  type RegistryQuestion,
  type RegistryWait,
  type RenderedConfig,
} from "../observed.ts";
import type { BuildPlan, FailureReason } from "../types.ts";

export interface PreflightFailure {
  readonly arch: Arch;
  readonly reason: FailureReason;
  readonly message: string;
}

export type Preflight =
  | { readonly kind: "ready" }
  | { readonly kind: "ask"; readonly questions: readonly RegistryQuestion[] }
  | RegistryWait
  | { readonly kind: "failed"; readonly failures: readonly PreflightFailure[] };

export interface PreflightInput {
  readonly plan: BuildPlan;
  readonly rendered: RenderedConfig;
  readonly archs: readonly Arch[];
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

function staticFailures({ plan, rendered, archs }: PreflightInput): readonly PreflightFailure[] {
  const forAll = (reason: FailureReason, message: string): readonly PreflightFailure[] =>
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
      message: `The Containerfile for ${arch} cannot be built: ${problem.message}.`,
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
  const image = question.kind === "platforms" ? question.reference : "";
  const lacks = (arch: Arch, state: string): PreflightFailure => ({
    arch,
    reason: "BaseImageLacksArchitecture",
    message:
      `"${image}" ${state}. A payload of one architecture has images of that one only: the cluster must be moved ` +
      "to a multi-architecture payload first.",
  });
  if (answer.kind === "absent") return archs.map((arch) => lacks(arch, "does not exist"));
  if (answer.kind !== "platforms") return [];
  return archs.filter((arch) => !answer.architectures.includes(arch)).map((arch) =>
    lacks(arch, `has no image for ${arch}, only for ${answer.architectures.join(", ") || "none"}`)
  );
}
