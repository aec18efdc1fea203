// Why a row has no test that carries its id. Read by the generator; a test that carries the id counts first.
import { parseClaim } from "./claims.ts";

/** One reason for some rows. */
export type Reason =
  | {
    /** Ids as at the head of a test's name; ranges as `UT-01..13` or `47-59`. */
    readonly ids: readonly string[];
    readonly status: "different" | "not yet";
    readonly why: string;
  }
  | {
    readonly ids: readonly string[];
    /** The test named by `by` proves these rows although its name does not carry them. */
    readonly status: "covered";
    readonly why: string;
    readonly by: string;
  };

const APPLY = "no counterpart: objects are written by server-side apply, drift is seen by comparing fields";
const ONE_PROCESS = "one process: there are no operand Deployments, Services, accounts or rights to make and repair";
const GO = "no counterpart: a helper of the reference's code; here conditions are rendered from a table";
const READS = "no counterpart: the operator reads from the API server itself, there is no cache to fall back from";
const EVENTS = "no counterpart: any event wakes the reconciler, which does nothing when the state is as wanted";
const REQUEUE = "no counterpart: a step of the operator is a value that says what it waits for, not an error";
const UNBUILT = "never built in the reference; only its plan has these rows";
const ENOEXEC = "built with ENOEXEC monitoring, a later step";
const OPENSHIFT = "a kind of OpenShift's own; its pods are admitted and placed like those of E-01";
const CRDS = "7.9 7.12 7.14 the CRDs on a real API server: rows 100-116, 130-135, 152, 156-169";

const SCHEMA = "1.2 a PodPlacementConfig needs a spec with plugins, and a priority of 0 to 255";
const NO_CLUSTER_CONFIG = "reviewNamespaceConfig() answers 400 when there is no cluster config";
const IN_USE = "reviewClusterConfig() refuses deletion while namespace configs exist";
const TAKEN = "reviewNamespaceConfig() refuses a priority that a live sibling holds";
const ABSENT = "validateNamespaceConfig() counts an absent priority as 0";
const FINALIZER = "128 129 operator keeps a finalizer on the config while namespace configs exist";
const GATED_STAY = "91 220 operator waits for a gated pod while leaving, says so, and goes when the pod is gone";
const LEASE = "runWithLease() makes one of two contenders the leader and lets the other see it";

/** One for each row at most. */
export const REASONS: readonly Reason[] = [
  { ids: ["MD-34..38", "117-123", "141-174", "192-204", "225-229", "232"], status: "not yet", why: ENOEXEC },
  { ids: ["M5-01..54", "M2-08..11"], status: "different", why: UNBUILT },
  { ids: ["UT-01..19", "47-65"], status: "different", why: APPLY },
  { ids: ["AP-01", "1"], status: "covered", why: "scoring is on", by: "PM-93 scoringWanted() is true for [true]" },
  { ids: ["AP-02", "2"], status: "covered", why: "scoring is off", by: "PM-94 scoringWanted() is false for [false]" },
  { ids: ["AP-03..05", "3-13"], status: "different", why: GO },
  { ids: ["19-29"], status: "different", why: READS },
  { ids: ["30-38"], status: "different", why: EVENTS },
  { ids: ["39-46"], status: "different", why: REQUEUE },
  {
    ids: ["66-73", "216"],
    status: "different",
    why: "no counterpart: nothing that is made depends on the version of the server; the namespace is a manifest",
  },
  { ids: ["75", "77-84", "98"], status: "different", why: ONE_PROCESS },
  {
    ids: ["86", "97"],
    status: "different",
    why: "one process: logVerbosity sets the level of the running service, nothing rolls out",
  },
  {
    ids: ["74"],
    status: "covered",
    why: "the schema",
    by: "1.1 a ClusterPodPlacementConfig of another name is Invalid",
  },
  { ids: ["89", "99"], status: "covered", why: "row E-46", by: "E-46 all leaves when the configs are deleted" },
  { ids: ["191"], status: "covered", why: "row 91", by: "91 220 leaves in order: webhook, gates, finalizer" },
  {
    ids: ["176"],
    status: "covered",
    why: "row 184",
    by: "184 convertObject() leaves plugins away and the fallback empty when a plain v1alpha1 config comes in",
  },
  {
    ids: ["215"],
    status: "different",
    why: "one process: `serve` is a command, there are no mode flags to contradict each other, and one Lease",
  },
  { ids: ["E-20", "E-21"], status: "different", why: OPENSHIFT },
  { ids: ["PC-01..06"], status: "covered", why: "rows 130-135", by: CRDS },
  { ids: ["DV-136", "DV-137"], status: "covered", why: "the schema", by: SCHEMA },
  { ids: ["EX-11", "M2-01"], status: "covered", why: "row 124", by: `124 DV-134 ${NO_CLUSTER_CONFIG}` },
  { ids: ["EX-12", "M2-02"], status: "covered", why: "row 125", by: `125 ${IN_USE}` },
  { ids: ["M2-05"], status: "covered", why: "row 137", by: `137 ${TAKEN}` },
  { ids: ["M2-06"], status: "covered", why: "two absent priorities", by: `DV-132 223 ${ABSENT}` },
  {
    ids: ["EX-18"],
    status: "covered",
    why: "row 186",
    by: "186 validateClusterConfig() refuses an architecture that comes twice",
  },
  { ids: ["EX-13", "EP-05", "207"], status: "covered", why: "rows 128 and 129", by: FINALIZER },
  { ids: ["EX-17"], status: "covered", why: "row 91", by: GATED_STAY },
  {
    ids: ["DV-27"],
    status: "covered",
    why: "registered with failurePolicy Ignore",
    by: "217 renderWebhookConfiguration() makes the object of spec 2.4.3",
  },
  {
    ids: ["DV-15"],
    status: "different",
    why: "the event is posted when the stored pod is seen, so a pod that was refused never has one, and nobody waits",
  },
  {
    ids: ["DV-60"],
    status: "different",
    why:
      "one JSON Patch guarded by tests: a pod that has changed is read and decided again, without a failure to tell of",
  },
  {
    ids: ["DV-63"],
    status: "different",
    why: "namespace configs are watched, not listed on the way; one that is seen later wakes the gated pods",
  },
  {
    ids: ["DV-64"],
    status: "different",
    why:
      "namespace configs are watched, not listed on the way; nothing is counted, and a replica that cannot read them is not ready",
  },
  {
    ids: ["DV-71"],
    status: "different",
    why: "only pods with the gate label are watched; one that has left Pending is not seen",
  },
  { ids: ["DV-72"], status: "covered", why: "pods are placed by the leader", by: LEASE },
  {
    ids: ["DV-143"],
    status: "different",
    why: "metrics are on the plain admin listener; who may reach it is the NetworkPolicy's to say",
  },
];

/** The reason that speaks for a row, if any does. */
export function reasonOf(id: string, reasons: readonly Reason[] = REASONS): Reason | undefined {
  return reasons.find(({ ids }) => parseClaim(ids.join(" ")).ids.includes(id));
}
