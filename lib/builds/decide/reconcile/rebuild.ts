// A rebuild that a user requests with an annotation, or that a changed push secret makes possible. Four writes, each of which
// can be the last before a restart:
//
//   annotation ─▶ 1 note which build is replaced, and which architectures ─▶ 2 delete it ─▶ 3 create it anew, marked with the
//   architectures ─▶ 4 take both annotations away
import type { Arch, MachineOSBuild } from "../observed.ts";
import { isDone } from "../status/aggregate.ts";
import { stateOfBuild } from "../status/conditions.ts";
import { setOf } from "../detect/detect.ts";
import type { ArchSet, BuildRecord } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { digestDeletions } from "./other_builds.ts";
import { annotate, ASK_AGAIN_MS, deletion, normal, part, type Scope, warning } from "./part.ts";
import { recordOf } from "./running.ts";
import type { Part } from "../effects.ts";

export type Rebuild =
  /** Nothing to do, or nothing that keeps the build from going on; `part`: what is tidied up. */
  | { readonly kind: "none"; readonly part: Part }
  | { readonly kind: "replacing"; readonly part: Part }
  /** The build is gone: it is to be created with these architectures marked. */
  | { readonly kind: "create"; readonly forced: ArchSet };

type Asked = Scope<MachineOSBuild | undefined>;

export function decideRebuild(scope: Asked): Rebuild {
  const { facts, build } = scope;
  const { annotations, name } = facts.config.meta;
  const asked = annotations[McoAnnotation.rebuild];
  const noted = annotations[ArchwayAnnotation.rebuilding];
  if (noted !== undefined) {
    const [uid, archs = ""] = noted.split(":");
    if (build === undefined) return { kind: "create", forced: setOf(archs.split(",")) };
    if (build.meta.uid === uid) return { kind: "replacing", part: replace(facts, build) };
    const cleared = { [McoAnnotation.rebuild]: null, [ArchwayAnnotation.rebuilding]: null };
    return { kind: "none", part: part({ effects: [annotate("configs", { name }, cleared)] }) };
  }
  // Without a build in use there is nothing to build again: the first build is under way.
  if (asked === undefined || annotations[McoAnnotation.currentBuild] === undefined) {
    return { kind: "none", part: part() };
  }
  return noteRequest(asked, scope);
}

/** The first write; a request that names nothing of the pool is taken away. */
function noteRequest(asked: string, scope: Asked): Rebuild {
  const { name } = scope.facts.config.meta;
  const { forced, unknown } = selection(asked, scope);
  const wrong = `Cannot rebuild "${unknown.join(", ").slice(0, 100)}": no architecture of the pool is called that.`;
  const warnings = unknown.length === 0 ? [] : [warning(["config", name], "RebuildRequested", wrong)];
  if (forced.length === 0 && unknown.length > 0) {
    const effects = [annotate("configs", { name }, { [McoAnnotation.rebuild]: null })];
    return { kind: "none", part: part({ effects, events: warnings }) };
  }
  const note = `${scope.build?.meta.uid ?? ""}:${forced.join(",")}`;
  const what = forced.length === 0 ? "is published again" : `for ${forced.join(", ")} is built again`;
  const message = `The image ${what}, because a user asked for it.`;
  const effects = [annotate("configs", { name }, { [ArchwayAnnotation.rebuilding]: note })];
  const events = [normal(["config", name], "RebuildRequested", message), ...warnings];
  return { kind: "replacing", part: part({ effects, events }) };
}

/**
 * A build that only lacked the right to push is replaced once the push secret is another than then: what it pushed is found, and
 * not built again.
 */
export function retryDenied({ facts, build }: Scope, { archs, index }: BuildRecord): Part {
  const { config: { meta: { name }, pushSecret }, secretVersions, nowMs } = facts;
  const failed = archs.filter(({ state }) => state === "Failed" || state === "Interrupted");
  const denied = [...failed, ...(index.kind === "failed" ? [index] : [])].map(({ deniedVersion }) => deniedVersion);
  if (denied.length === 0 || denied.includes(undefined)) return part();
  // Secrets of users are not watched.
  if (denied.every((version) => version === secretVersions.push)) return part({ wakeAtMs: nowMs + ASK_AGAIN_MS });
  const effects = [annotate("configs", { name }, { [ArchwayAnnotation.rebuilding]: `${build.meta.uid}:` })];
  const message = `Secret "${pushSecret}" has changed since pushing with it was denied: build "${build.meta.name}" ` +
    "is tried again, without the images that are there.";
  return part({ effects, events: [normal(["config", name], "RebuildRequested", message)] });
}

function replace(facts: BuildFacts, build: MachineOSBuild): Part {
  if (build.meta.isDeleting) return part();
  return part({ effects: [...digestDeletions(facts, build), deletion("builds", build.meta, "Foreground")] });
}

/** `all`, architectures, or nothing: all of a build that succeeded, else those that did not; none where only publishing failed. */
function selection(
  asked: string,
  { facts, plan, build }: Asked,
): { readonly forced: ArchSet; readonly unknown: readonly string[] } {
  const words = asked.split(",").map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
  if (words.includes("all")) return { forced: plan.set, unknown: [] };
  if (words.length > 0) {
    const isOwn = (word: string): word is Arch => plan.set.some((arch) => arch === word);
    return { forced: setOf(words.filter(isOwn)), unknown: words.filter((word) => !isOwn(word)) };
  }
  if (build === undefined || stateOfBuild(build) === "Succeeded") return { forced: plan.set, unknown: [] };
  const done = recordOf(facts, build).archs.filter(isDone).map(({ arch }) => arch);
  return { forced: plan.set.filter((arch) => !done.includes(arch)), unknown: [] };
}
