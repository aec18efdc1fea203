// What is recorded of pools whose MachineConfigs the original's render controller renders, turn by turn.
import { createHash } from "node:crypto";
import { z } from "zod";
import { imageOf } from "../../cluster/support/simulated_openshift.ts";
import { PROGRAM } from "../rollout/controllers.ts";

const SeenObjectSchema = z.looseObject({
  metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
  spec: z.record(z.string(), z.unknown()),
});

/** A pool, or a rendered configuration, as it was seen. */
export type SeenObject = z.infer<typeof SeenObjectSchema>;

export const RenderingSchema = z.object({
  original: z.object({ repository: z.string(), commit: z.string() }),
  program: z.object({ path: z.string(), sha256: z.string() }),
  recorded: z.string(),
  /** The pools once nothing changed any more, by what was done before. */
  turns: z.record(z.string(), z.array(SeenObjectSchema)),
  rendered: z.array(SeenObjectSchema),
});

export type Rendering = z.infer<typeof RenderingSchema>;

export const RECORD = new URL("../records/rendering.json", import.meta.url);

export async function readRendering(): Promise<Rendering> {
  return RenderingSchema.parse(JSON.parse(await Deno.readTextFile(RECORD)));
}

export const RELEASES = {
  before: { release: "4.20.1", image: imageOf("4.20.1") },
  after: { release: "4.20.5", image: imageOf("4.20.5") },
} as const;

/** By which the pool `infra` has another operating system than the release. */
export const OWN_IMAGE = `registry.test/org/os@sha256:${"a".repeat(64)}`;

export const ROLE = "machineconfiguration.openshift.io/role";
export const BUILT_BY = "machineconfiguration.openshift.io/generated-by-controller-version";

export async function hashOfProgram(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["rendering.ts", "record.ts", PROGRAM]) {
    hash.update(await Deno.readTextFile(new URL(file, import.meta.url)));
  }
  return hash.digest("hex");
}
