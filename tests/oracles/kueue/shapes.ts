// The jobs that the real Kueue queues for the record, drawn from a seed, and what the record says of each kind.
import { createHash } from "node:crypto";
import { z } from "zod";
import { at } from "../../lib/placement/decide/make.ts";
import { Draw } from "../subject.ts";

export const COUNT = 500;
const SEED = 28;
/** Of each kind of image there are so many: most jobs name one that is not known yet. */
const REPOSITORIES = 40;

/** Architectures of an image; undefined: it is not there. */
const PLATFORMS: Readonly<Record<string, readonly string[] | undefined>> = {
  amd64: ["amd64"],
  arm64: ["arm64"],
  both: ["amd64", "arm64"],
  missing: undefined,
};

/** `Pod`: a plain pod in a queue. */
export const ShapeSchema = z.strictObject({
  kind: z.enum(["Job", "Pod"]),
  /** The kind of each container's image. */
  images: z.array(z.enum(["amd64", "arm64", "both", "missing"])).min(1),
  /** What its user pins, whether its images have it or not: `either` by affinity, the others by nodeSelector. */
  pinned: z.enum(["amd64", "arm64", "either"]).optional(),
});

export type Shape = z.infer<typeof ShapeSchema>;

const RowSchema = z.strictObject({
  shape: ShapeSchema,
  count: z.int().positive(),
  /** Architecture of the flavor that Kueue admitted it to; absent: to none. */
  flavor: z.string().optional(),
  /** Architectures required in the template of the Workload when it was admitted; absent: none. */
  required: z.array(z.string()).optional(),
});

export const RecordSchema = z.strictObject({
  original: z.strictObject({ repository: z.string(), commit: z.string() }),
  program: z.strictObject({ path: z.string(), sha256: z.string() }),
  /** The commit of Archway that last changed what decides and writes. */
  archway: z.string(),
  kubernetes: z.string(),
  recorded: z.string(),
  /** Workloads that the check sent back from a flavor at least once. */
  sentBack: z.int(),
  /** Pods that are let go, although their node labels, affinity and images have no architecture in common. */
  contradictions: z.int(),
  /** Workloads that were admitted to a flavor on which one of their images does not run, or that their user excludes. */
  impossible: z.int(),
  /** Workloads of which all pods ran to their end, or for plain pods run. */
  ran: z.int(),
  rows: z.array(RowSchema),
});

export type Row = z.infer<typeof RowSchema>;
export type KueueRecord = z.infer<typeof RecordSchema>;

export function platformsOf(image: string): readonly string[] | undefined {
  return PLATFORMS[image];
}

/** On which architectures all its images run, as far as they are known, of those that its user pins. */
export function fitsOf({ images, pinned = "either" }: Shape): readonly string[] {
  return ["amd64", "arm64"].filter((architecture) =>
    (pinned === "either" || pinned === architecture) &&
    images.every((image) => platformsOf(image)?.includes(architecture) ?? true)
  );
}

const ARCH = "kubernetes.io/arch";

/** What of the spec of its pods pins them. */
export function pinOf({ pinned }: Shape): Readonly<Record<string, unknown>> {
  if (pinned === undefined) return {};
  if (pinned !== "either") return { nodeSelector: { [ARCH]: pinned } };
  const matchExpressions = [{ key: ARCH, operator: "In", values: ["amd64", "arm64"] }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

const TERMS = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];

/** Architectures that all required terms of a spec together leave; undefined where they name none. */
export function requiredOf(spec: unknown): readonly string[] | undefined {
  const terms = [at(spec, ...TERMS) ?? []].flat();
  const named = terms.flatMap((term) => [at(term, "matchExpressions") ?? []].flat())
    .filter((expression) => at(expression, "key") === ARCH)
    .map((expression) => [at(expression, "values") ?? []].flat().map(String));
  return named.length === 0 ? undefined : named.reduce((left, right) => left.filter((one) => right.includes(one)));
}

export interface DrawnJob {
  readonly shape: Shape;
  /** `demo/amd64-7`, for each container. */
  readonly repositories: readonly string[];
}

export function drawJobs(): readonly DrawnJob[] {
  const draw = new Draw(SEED);
  return draw.many(COUNT, (at) => {
    const kind = at % 20 === 7 ? "Pod" : "Job";
    const first = draw.pick(["amd64", "arm64", "both"]);
    const second = draw.chance(0.3) ? [draw.pick(["both", first])] : [];
    const images = at % 50 === 11 ? ["amd64", "arm64"] : at % 50 === 23 ? ["missing"] : [first, ...second];
    const shape = { kind, images } as Shape;
    const pinned = draw.chance(0.15) ? { pinned: draw.pick(["amd64", "arm64", "either"]) } : {};
    return {
      shape: ShapeSchema.parse({ ...shape, ...pinned }),
      repositories: images.map((image) => `demo/${image}-${draw.below(REPOSITORIES)}`),
    };
  });
}

/** Of what asks: a record by another program is of no use. */
export async function hashOfProgram(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["shapes.ts", "record.ts"]) {
    hash.update(await Deno.readTextFile(new URL(file, import.meta.url)));
  }
  return hash.digest("hex");
}
