// What the tests of a passed row do not prove of its sentence. The page says it beside the test.
import { parseClaim } from "./claims.ts";

export interface Limit {
  /** Ids as at the head of a test's name. */
  readonly ids: readonly string[];
  readonly lacks: string;
}

const SCHEMA = "OpenShift's schema on a real API server answers, no code of Archway";
const SIMULATED = "cluster and registry are simulated";
const CATALOGUED = "OpenShift itself: the pod has the owner and the labels that it would give";
const DENIED = "a deletion that fails is no error (M-313)";

/** One for each row at most. */
export const LIMITS: readonly Limit[] = [
  { ids: ["DV-27"], lacks: "a webhook that is down: the policy Ignore is read from what is rendered" },
  { ids: ["DV-72"], lacks: "pods: one of two contenders leads, by a clock of the test" },
  { ids: ["E-02"], lacks: "OpenShift itself: the test sets the annotation" },
  { ids: ["E-20..21"], lacks: CATALOGUED },
  { ids: ["E-24"], lacks: "the very next pod: up to twenty may still be placed by what was known" },
  { ids: ["E-46"], lacks: "operands but the webhook configuration: the others are manifests and stay (217)" },
  { ids: ["201..202"], lacks: "such a node: the test writes what a kubelet would report" },
  { ids: ["O-001..015", "P-032", "P-068"], lacks: SCHEMA },
  { ids: ["O-020"], lacks: "a missing MachineOSConfig, without which nothing is planned (O-070)" },
  { ids: ["O-125", "O-127..132", "O-145", "O-148..149"], lacks: SIMULATED },
  { ids: ["P-180"], lacks: `a process that is killed: ${SIMULATED}, and passes end after any write` },
  { ids: ["M-322"], lacks: DENIED },
];

const LACKS: ReadonlyMap<string, string> = new Map(
  LIMITS.flatMap(({ ids, lacks }) => parseClaim(ids.join(" ")).ids.map((id) => [id, lacks] as const)),
);

/** What the tests of the row leave open, if anything does. */
export function lacksOf(id: string): string | undefined {
  return LACKS.get(id);
}
