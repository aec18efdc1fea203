// Whether an architecture's image exists already, by any name. Only a clear yes leads to reuse, only a clear no to a
// build.
import { mcoBuildName } from "../plan/mco_build_name.ts";
import { cutReference } from "../../../oci/reference.ts";
import { questionKey, type RegistryAnswer, type RegistryQuestion, type RegistryWait } from "../observed.ts";
import { isDone, stateOfBuild } from "../status/aggregate.ts";
import type { ArchitecturePlan } from "../types.ts";
import { ImageLabel } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import type { BuildSubject } from "./decision_part.ts";

type Reuse =
  | { readonly kind: "ask"; readonly question: RegistryQuestion }
  | RegistryWait
  | Pick<OneImage, "digest" | "mediaType" | "size"> & {
    readonly kind: "reuse";
    readonly isUnlabelled: boolean;
    /** Set where the image is not in the plan's repository. */
    readonly from?: string | undefined;
    readonly base?: string | undefined;
  }
  /** `refused`: why existing images cannot be reused. */
  | { readonly kind: "build"; readonly refused: readonly string[] };

type PlanAndFacts = Pick<BuildSubject, "plan" | "facts">;
type OneImage = Extract<RegistryAnswer, { kind: "image" }>;

interface Candidate {
  readonly repository: string;
  readonly reference: string;
  /** The image has no label with its build key: the record, or the name of the build, vouches for it instead. */
  readonly isUnlabelled: boolean;
  readonly base?: string | undefined;
}

export function decideReuse(arch: ArchitecturePlan, { plan, facts }: PlanAndFacts): Reuse {
  const refused: string[] = [];
  for (const candidate of candidatesOf(arch, { plan, facts })) {
    const question: RegistryQuestion = { kind: "image", reference: candidate.reference };
    const answer = facts.answers.get(questionKey(question));
    if (answer === undefined) return { kind: "ask", question };
    if (answer.kind === "unknown") return { ...answer, kind: "wait" };
    if (answer.kind !== "image") continue;
    const why = mismatchOf(answer, arch, candidate);
    if (why === undefined) {
      const { digest, mediaType, size } = answer;
      const { isUnlabelled, repository, base } = candidate;
      const from = repository === plan.repository ? undefined : repository;
      return { kind: "reuse", digest, mediaType, size, isUnlabelled, from, base };
    }
    refused.push(why);
  }
  return { kind: "build", refused };
}

/** Why an image is not the wanted one; undefined if it is. */
export function mismatchOf(
  { platform: { os, architecture }, labels, digest }: Pick<OneImage, "platform" | "labels" | "digest">,
  { arch, buildKey }: Pick<ArchitecturePlan, "arch" | "buildKey">,
  { isUnlabelled, reference }: Pick<Candidate, "isUnlabelled" | "reference">,
): string | undefined {
  if (os !== "linux" || architecture !== arch) {
    return `"${reference}" (${digest}) is an image for ${os}/${architecture}, not for linux/${arch}.`;
  }
  const key = labels[ImageLabel.buildKey];
  if (isUnlabelled && key === undefined || key === buildKey) return undefined;
  return `"${reference}" (${digest}) was not built for these inputs: its label ${ImageLabel.buildKey} ${
    key === undefined ? "is not there" : "says another key"
  }.`;
}

/** Builds with the same key mostly have the same image, and each candidate costs a request. */
const MAX_RECORDED = 3;

/** Recorded images, then those of `mcoBuilds`, then tags. Images that need no copy to another repository come first. */
function candidatesOf(arch: ArchitecturePlan, { plan, facts }: PlanAndFacts): readonly Candidate[] {
  const tagged = [plan.repository, plan.jobRepository].map((repository): Candidate => ({
    repository,
    reference: `${repository}:${arch.tag}`,
    isUnlabelled: plan.mode === "single",
  }));
  const found = [...recorded(arch, facts).slice(0, MAX_RECORDED), ...mcoBuilds({ plan, facts }), ...tagged];
  const distinct = found.filter(({ reference }, at) => found.findIndex((one) => one.reference === reference) === at);
  return distinct.toSorted((left, right) =>
    Number(right.repository === plan.repository) - Number(left.repository === plan.repository)
  );
}

function recorded({ arch, buildKey }: ArchitecturePlan, { builds, records }: BuildFacts): readonly Candidate[] {
  return records.flatMap(({ build, record }) =>
    record.archs.filter((one) => one.arch === arch && one.buildKey === buildKey && isDone(one)).flatMap((one) => {
      const owner = builds.find(({ meta }) => meta.name === build);
      const repository = one.from ?? (owner === undefined ? undefined : cutReference(owner.pushSpec).name);
      if (repository === undefined || one.digest === undefined) return [];
      const reference = `${repository}@${one.digest}`;
      return [{ repository, reference, isUnlabelled: one.isUnlabelled === true, base: one.base }];
    })
  );
}

/** Succeeded builds without a record whose name, a hash over their inputs, shows that these are the same. */
function mcoBuilds(
  { plan, facts: { builds, records, config, pool, rendered } }: PlanAndFacts,
): readonly Candidate[] {
  if (pool === undefined || rendered === undefined) return [];
  const name = mcoBuildName({ config, pool, rendered });
  return builds.filter((build) =>
    build.meta.name === name && build.meta.name !== plan.name && stateOfBuild(build) === "Succeeded" &&
    !records.some(({ build: recordedName }) => recordedName === name)
  ).flatMap(({ status: { digestedPushSpec: reference = "" } }) => {
    const { name: repository, digest } = cutReference(reference);
    return digest === undefined ? [] : [{ repository, reference, isUnlabelled: true }];
  });
}
