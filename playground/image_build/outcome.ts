// What became of the sample's node image: read from the MachineOSConfig, its MachineOSBuild and the registry alone.
// Pure.
import { findCondition, isTrue, parseConditions } from "../../lib/vocabulary/condition.ts";
import { renderTable } from "../../lib/cli/output.ts";
import { ArchwayAnnotation } from "../../lib/builds/decide/names.ts";
import { parseObject } from "../../lib/json.ts";
import type { KubeObject } from "../../lib/k8s/types.ts";
import { listAtPath, textAtPath } from "../json_path.ts";
import type { SimulatedBuild } from "./builder.ts";

interface ArchitectureOutcome {
  readonly architecture: string;
  /** Where its Job ran; empty: nowhere. */
  readonly node: string;
  /** What the MachineOSBuild says of it; empty: nothing. */
  readonly state: string;
  readonly digest: string;
  /** Whether it was built once, on its own architecture, and is what was published. */
  readonly ok: boolean;
}

export interface ImageBuildOutcome {
  readonly pool: string;
  readonly builds: readonly ArchitectureOutcome[];
  /** `registry/repository@digest` that nodes run; empty: none. */
  readonly published: string;
  readonly problem: string;
  readonly ok: boolean;
}

export interface BuildEvidence {
  readonly config: KubeObject;
  readonly builds: readonly KubeObject[];
  readonly simulated: readonly SimulatedBuild[];
  readonly manifestOf: (reference: string) => string | undefined;
  readonly wanted: readonly string[];
}

const UNDER_WAY: readonly string[] = ["Pending", "Preparing", "Building"];

/**
 * Whether nothing more is to be expected: an image is published and its build says so, or a build has ended without.
 */
export function isBuildOver({ config, builds }: Pick<BuildEvidence, "config" | "builds">): boolean {
  if (builds.some((build) => has(build, "Failed") || has(build, "Interrupted"))) return true;
  const isUnderWay = [...statesOf(builds).values()].some((state) => UNDER_WAY.includes(state));
  return publishedOf(config) !== "" && builds.some((build) => has(build, "Succeeded")) && !isUnderWay;
}

export function readBuildOutcome({ config, builds, simulated, manifestOf, wanted }: BuildEvidence): ImageBuildOutcome {
  const published = publishedOf(config);
  const index = parseObject(manifestOf(published.slice(published.indexOf("/") + 1)) ?? "");
  const inIndex = new Map(
    listAtPath(index, "manifests").map((
      one,
    ) => [textAtPath(one, "platform", "architecture") ?? "", textAtPath(one, "digest") ?? ""]),
  );
  const states = statesOf(builds);
  const outcomes = wanted.map((architecture): ArchitectureOutcome => {
    const own = simulated.filter((one) => one.architecture === architecture);
    const [build] = own;
    const state = states.get(architecture) ?? "";
    const digest = inIndex.get(architecture) ?? "";
    const ok = own.length === 1 && state === "Succeeded" && build?.digest === digest;
    return { architecture, node: build?.node ?? "", state, digest, ok };
  });
  const ok = outcomes.every((one) => one.ok) && inIndex.size === wanted.length && simulated.length === wanted.length;
  return { pool: config.metadata.name, builds: outcomes, published, problem: problemOf(config, builds), ok };
}

function publishedOf(config: KubeObject): string {
  return textAtPath(config, "status", "currentImagePullSpec") ?? "";
}

function statesOf(builds: readonly KubeObject[]): ReadonlyMap<string, string> {
  const text = builds.at(-1)?.metadata.annotations?.[ArchwayAnnotation.architectureStatus] ?? "";
  return new Map(text.split(",").map((pair) => pair.split("=")).map(([arch = "", state = ""]) => [arch, state]));
}

function has(object: KubeObject, type: string): boolean {
  return isTrue(parseConditions(object.status), type);
}

function problemOf(config: KubeObject, builds: readonly KubeObject[]): string {
  const failed = builds.map((build) => ({ object: build, type: "Failed" }));
  return [...failed, { object: config, type: "BuildNotPossible" }].filter(({ object, type }) => has(object, type))
    .map(({ object, type }) => findCondition(parseConditions(object.status), type)?.message).join(" ");
}

const SHORT_DIGEST = "sha256:".length + 12;

/** The table, one line an architecture, and below it what was published, with a trailing newline. */
export function renderBuildTable({ pool, builds, published, problem }: ImageBuildOutcome): string {
  const rows = builds.map(({ architecture, node, state, digest, ok }) => [
    pool,
    architecture,
    node || "-",
    state || "-",
    digest.slice(0, SHORT_DIGEST) || "-",
    ok ? "yes" : "no",
  ]);
  const table = renderTable(["POOL", "ARCHITECTURE", "NODE", "BUILD", "IMAGE", "OK"], rows);
  const end = published === "" ? "Nothing is published." : `Published: ${published}`;
  return `${table}\n${end}\n${problem === "" ? "" : `${problem}\n`}`;
}
