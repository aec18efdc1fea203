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
const BUILDER = "buildah in a pod: the builder of the tests makes the image on nodes";
const DENIED = "a deletion that fails is no error (M-313)";

/** One for each row at most. */
export const LIMITS: readonly Limit[] = [
  { ids: ["21", "23"], lacks: "a cache: all reads are of the API server" },
  { ids: ["DV-16"], lacks: "response times: what counts requests is told of each" },
  { ids: ["DV-27"], lacks: "a webhook that is down: the policy Ignore is read from what is rendered" },
  { ids: ["DV-72"], lacks: "pods: one of two contenders leads, by a clock of the test" },
  { ids: ["E-02"], lacks: "OpenShift itself: the test sets the annotation" },
  { ids: ["E-20..21"], lacks: CATALOGUED },
  { ids: ["E-24"], lacks: "the very next pod: up to twenty may still be placed by what was known" },
  { ids: ["E-46"], lacks: "operands but the webhook configuration: the others are manifests and stay (217)" },
  { ids: ["96"], lacks: "conditions and webhook configuration (18): a roll-out is read so" },
  { ids: ["120"], lacks: "an account that loses them: pull secrets are not looked at (119)" },
  { ids: ["125"], lacks: "what stays: the refusal alone" },
  { ids: ["126"], lacks: "the webhook: the finalizer alone" },
  { ids: ["228"], lacks: "a daemon that is shutting down" },
  { ids: ["201-202"], lacks: "such a node: the test writes what a kubelet would report" },
  { ids: ["O-001..015", "P-032", "P-068"], lacks: SCHEMA },
  { ids: ["O-020"], lacks: "a missing MachineOSConfig, without which nothing is planned (O-070)" },
  { ids: ["O-050"], lacks: "the condition Prepared" },
  { ids: ["O-084"], lacks: "a malformed push spec, which the schema refuses (O-003)" },
  { ids: ["O-089"], lacks: "an error: the build waits" },
  { ids: ["O-100"], lacks: "that images are read with them" },
  { ids: ["O-123", "O-146"], lacks: BUILDER },
  { ids: ["O-125", "O-127..132", "O-145", "O-148..149"], lacks: SIMULATED },
  { ids: ["P-067"], lacks: "the moment: they are rendered together" },
  { ids: ["P-142"], lacks: "how much memory it takes" },
  { ids: ["P-165"], lacks: "a condition that says so" },
  { ids: ["P-180"], lacks: `a process that is killed, nor digests: ${SIMULATED}, and a pass ends after any write` },
  { ids: ["M-235"], lacks: "a list: a rule tells people's namespaces from the platform's" },
  { ids: ["M-293"], lacks: "the strategies: the nodes are named to what carries them out" },
  { ids: ["M-294"], lacks: "a strategy that fails: the drain is late" },
  { ids: ["M-300..301"], lacks: "events: all nodes are looked at, and those of the control plane left alone" },
  { ids: ["M-312"], lacks: "an error: it is said, and nothing is removed" },
  { ids: ["M-318"], lacks: "budgets, finalizers and termination, which M-310 has" },
  { ids: ["M-322", "M-324..325"], lacks: DENIED },
  { ids: ["M-323"], lacks: "a failing list, which M-313 has" },
  { ids: ["M-327"], lacks: "pods that cannot be listed: that is an error (M-313)" },
  { ids: ["PR-03..04", "EX-09..10", "189-190"], lacks: "five attempts: the count ends at 5, however many there were" },
];

const LACKS: ReadonlyMap<string, string> = new Map(
  LIMITS.flatMap(({ ids, lacks }) => parseClaim(ids.join(" ")).ids.map((id) => [id, lacks] as const)),
);

/** What the tests of the row leave open, if anything does. */
export function lacksOf(id: string): string | undefined {
  return LACKS.get(id);
}
