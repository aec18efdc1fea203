// The record of a build that succeeded before there was one, or whose record was lost: from the build itself and what the
// registry has under the tags of its architectures.
import { digestOfReference } from "../plan/repository.ts";
import { questionKey, type RegistryQuestion } from "../registry.ts";
import type { ArchBuild, BuildRecord } from "../types.ts";
import type { Scope } from "./part.ts";
import { mismatchOf } from "./reuse.ts";
import { storedRecord } from "./running.ts";

export type Recovered =
  | { readonly kind: "record"; readonly record: BuildRecord }
  | { readonly kind: "ask"; readonly questions: readonly RegistryQuestion[] }
  /** No answer now. */
  | { readonly kind: "wait" };

export function recoverRecord({ facts, plan, build }: Scope): Recovered {
  const stored = storedRecord(facts, build);
  if (stored !== undefined) return { kind: "record", record: stored.record };
  const reference = build.status.digestedPushSpec ?? "";
  const digest = digestOfReference(reference);
  if (plan.mode === "index") return recoverIndex({ facts, plan, build }, reference);
  const archs = plan.builds.map(({ arch, buildKey }): ArchBuild => ({
    arch,
    buildKey,
    state: "Succeeded",
    attempts: 0,
    digest,
    isUnlabelled: true,
  }));
  return {
    kind: "record",
    record: { archs, index: { kind: "published", reference, tag: build.meta.name, children: [digest] } },
  };
}

function recoverIndex({ facts, plan, build }: Scope, published: string): Recovered {
  const asked = plan.builds.map((arch) => {
    const reference = `${plan.repository}:${arch.tag}`;
    const question: RegistryQuestion = { kind: "image", reference };
    return { arch, reference, question, answer: facts.answers.get(questionKey(question)) };
  });
  const open = asked.filter(({ answer }) => answer === undefined).map(({ question }) => question);
  if (open.length > 0) return { kind: "ask", questions: open };
  if (asked.some(({ answer }) => answer?.kind === "unknown")) return { kind: "wait" };
  const archs = asked.flatMap(({ arch, reference, answer }): readonly ArchBuild[] => {
    if (answer?.kind !== "image" || mismatchOf(answer, arch, { reference, isUnlabelled: false }) !== undefined) {
      return [];
    }
    const { digest, mediaType, size } = answer;
    return [{ arch: arch.arch, buildKey: arch.buildKey, state: "Succeeded", attempts: 0, digest, mediaType, size }];
  });
  const children = archs.flatMap(({ digest }) => digest ?? []);
  const index = { kind: "published", reference: published, tag: build.meta.name, children } as const;
  return { kind: "record", record: { archs, index } };
}
