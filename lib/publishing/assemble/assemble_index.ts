// Joins images of one architecture each to an image index:
//
//   read and judge every image ─▶ plan the index ─▶ is it there? ─▶ copy what is missing ─▶ push by digest ─▶ by tag ─▶ read back
//      └ decide/child.ts            └ decide/           └ unchanged
//
// Every step is idempotent. Until the last push, only untagged content changes.
import type { Clock } from "../../clock.ts";
import { type Annotations, type IndexDocument, type IndexPlan, planIndex, platformKey } from "../decide/plan_index.ts";
import { withRetries } from "../../oci/push/retries.ts";
import { type ChildCopy, copyChildren, type CopyProgress, type CopyTag, IN_PLACE, planCopy } from "./copy_children.ts";
import { type AssembleProblem, problemOf } from "./problem.ts";
import { type PublishDeps, publishIndex } from "./publish_index.ts";
import { type JoinableImage, type OpenChild, readChildren, type ReadDeps } from "./read_child.ts";

interface AssembleRequest {
  /** The targets, each `registry/repository:tag`. Images are read once for all targets. */
  readonly to: readonly [string, ...string[]];
  readonly images: readonly string[];
  /** Those of `images` that give way to another one for the same platform. */
  readonly replaceable?: readonly string[];
  readonly annotations?: Annotations;
  readonly mode: "publish" | "plan";
  /** `image`: copies the single image unchanged, if it is missing. */
  readonly form: "index" | "image";
  /** Returns why this is the wrong image, as a sentence; undefined for the right one. */
  readonly judge?: (child: JoinableImage) => string | undefined;
  readonly tagOf?: CopyTag;
}

export type JoinedImage =
  & Omit<JoinableImage, "kind" | "form" | "labels" | "bytes" | "text">
  & { readonly copy: ChildCopy };

export type AssembleResult =
  | {
    /** `unchanged`: the tag already named this index. */
    readonly kind: "published" | "unchanged" | "planned";
    readonly index: IndexDocument;
    readonly repository: string;
    readonly replaced?: string | undefined;
    readonly images: readonly JoinedImage[];
  }
  | {
    readonly kind: "failed";
    readonly problems: readonly AssembleProblem[];
    readonly isTagWritten: boolean;
  };

export interface AssembleDeps extends ReadDeps {
  readonly clock: Clock;
  readonly onProgress: (progress: CopyProgress) => void;
}

/** One result per target. Rejects only with the signal's reason, or for faults outside of registries. */
export async function assembleIndex(
  request: AssembleRequest,
  deps: AssembleDeps,
): Promise<readonly [AssembleResult, ...AssembleResult[]]> {
  const { to: [first, ...others] } = request;
  const ready = await orFailed(() => prepare(request, deps), () => false, deps);
  if (ready.kind === "failed") return [ready];
  const publish = (to: string): Promise<AssembleResult> => {
    let isTagWritten = false;
    const onTag: PublishDeps["onTag"] = (state) => void (isTagWritten = state === "may be written");
    return orFailed(() => publishTo(to, ready, { ...deps, onTag, request }), () => isTagWritten, deps);
  };
  const results: [AssembleResult, ...AssembleResult[]] = [await publish(first)];
  for (const to of others) results.push(await publish(to));
  return results;
}

async function orFailed<T>(
  work: () => Promise<T>,
  isTagWritten: () => boolean,
  { signal }: AssembleDeps,
): Promise<T | Extract<AssembleResult, { kind: "failed" }>> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error, signal);
    return { kind: "failed", problems: [problem], isTagWritten: isTagWritten() };
  }
}

interface Ready {
  readonly kind: "ready";
  readonly plan: Extract<IndexPlan, { kind: "plan" }>;
  readonly sorted: readonly OpenChild[];
}

async function prepare(
  { to: [to], images, form, judge, annotations, replaceable = [] }: AssembleRequest,
  deps: AssembleDeps,
): Promise<Ready | Extract<AssembleResult, { kind: "failed" }>> {
  const reads = await readChildren(images, deps.repositories.targetOf(to), deps);
  const read = reads.filter((read) => read.kind === "child");
  const isNew = ({ child: { image } }: OpenChild): boolean => !replaceable.includes(image);
  const taken = read.filter(isNew).map(({ child }) => platformKey(child.platform));
  const children = read.filter((one) => isNew(one) || !taken.includes(platformKey(one.child.platform)));
  const plan = form === "image" ? planImage(children) : planIndex(children.map(({ child }) => child), annotations);
  const problems = [
    ...reads.flatMap((read) => read.kind === "problem" ? [read.problem] : []),
    ...children.flatMap(({ child }) => {
      const message = judge?.(child);
      return message === undefined
        ? []
        : [{ kind: "permanent", reason: "OtherImage", message, image: child.image } as const];
    }),
    ...(plan.kind === "refused" ? plan.problems.map(describe) : []),
  ];
  if (plan.kind === "refused" || problems.length > 0) return { kind: "failed", problems, isTagWritten: false };
  const sorted = plan.children.flatMap((child) => children.find((read) => read.child === child) ?? []);
  return { kind: "ready", plan, sorted };
}

async function publishTo(
  to: string,
  { plan, sorted }: Ready,
  deps: AssembleDeps & Pick<PublishDeps, "onTag"> & { readonly request: AssembleRequest },
): Promise<AssembleResult> {
  const { repositories, request: { mode, tagOf } } = deps;
  const endpoint = repositories.targetOf(to);
  const tag = endpoint.identifier;
  const target = await repositories.target(endpoint);
  const before = await withRetries(() => target.readDigest(tag), deps);
  const repository = target.name;
  const same = plan.forms.find(({ digest }) => digest === before);
  if (same !== undefined) return { kind: "unchanged", index: same, repository, images: joined(sorted, []) };
  const common = { repository, replaced: before };
  if (mode === "plan") {
    const copies = sorted.map((child) => planCopy(child, target));
    return { kind: "planned", index: plan.forms[0], ...common, images: joined(sorted, copies) };
  }
  const copies = await copyChildren(sorted, { ...deps, target, tagOf });
  const index = await publishIndex({ target, tag, forms: plan.forms }, deps);
  return { kind: "published", index, ...common, images: joined(sorted, copies) };
}

/** A single image is published as its own manifest. */
function planImage(children: readonly OpenChild[]): IndexPlan {
  const [one] = children;
  if (one === undefined) return { kind: "refused", problems: [] };
  const { form, mediaType, digest, text } = one.child;
  return { kind: "plan", children: [one.child], forms: [{ form, mediaType, digest, text }] };
}

function joined(children: readonly OpenChild[], copies: readonly ChildCopy[]): readonly JoinedImage[] {
  return children.map(({ child }, at) => {
    const { kind: _kind, form: _form, labels: _labels, bytes: _bytes, text: _text, ...image } = child;
    return { ...image, copy: copies[at] ?? IN_PLACE };
  });
}

function describe(
  { image, reason, state }: { readonly image: string; readonly reason: string; readonly state: string },
): AssembleProblem {
  return { kind: "permanent", reason, message: `Cannot join "${image}": ${state}.`, image };
}
