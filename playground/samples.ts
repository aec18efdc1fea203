// The sample pods of each scenario, and how each must end, as samples.yaml has them.
import { parse } from "yaml";
import * as z from "zod";
import TEXT from "./samples.yaml" with { type: "text" };

const TEXTS = z.array(z.string());

export const EXPECTATION = z.object({
  /** Architectures of the required node affinity or the node selector; empty: none. */
  architectures: TEXTS,
  decision: z.enum(["unseen", "waiting", "ignore", "place", "nowhere", "fallback", "release"]),
  /** Architectures of nodes it may be on; empty: it must stay unscheduled. */
  nodes: TEXTS,
  /** Whether it must be reported that it runs a program of another architecture; absent: that is not checked. */
  reported: z.boolean().optional(),
  /** Whether an event must say that an image contradicts the pod's own choice, or its node; absent: not checked. */
  contradicted: z.boolean().optional(),
  /** The type of a condition that the config must have; absent: that is not checked. */
  condition: z.string().optional(),
  /** Architectures whose taint it must tolerate; absent: that is not checked. */
  tolerates: TEXTS.optional(),
  why: z.string().optional(),
});

export type Expectation = z.output<typeof EXPECTATION>;
export type PodDecision = Expectation["decision"];

const MEMBERS = z.record(z.string(), z.unknown());

const SAMPLE = z.object({
  name: z.string(),
  images: TEXTS,
  expect: EXPECTATION,
  /** In its texts `REGISTRY/` stands for the address of the registry. */
  spec: MEMBERS.default({}),
  labels: z.record(z.string(), z.string()).default({}),
  container: MEMBERS.default({}),
  /** The repository that its first container's image is exchanged for once it runs. */
  exchange: z.string().optional(),
  before: z.boolean().default(false),
});

export type Sample = z.output<typeof SAMPLE>;

/** Which samples there are. `upgrade` has no pods, and creates its own nodes. `image-build` has only nodes. */
export type Scenario = "placement" | "exec-format-error" | "taints" | "upgrade" | "image-build" | "odd-pods";

const SAMPLES = z.record(z.string(), z.array(SAMPLE));

export function samplesOf(scenario: Scenario): readonly Sample[] {
  return SAMPLES.parse(parse(TEXT))[scenario] ?? [];
}
