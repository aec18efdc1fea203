// Why a row has no test that carries its id. A test that carries the id counts first.
import { BUILD_REASONS } from "./build_reasons.ts";

export type Reason =
  | {
    /** Ids as at the head of a test's name; ranges as `UT-01..13` or `47-59`. */
    readonly ids: readonly string[];
    readonly status: "different";
    /**
     * `behaviour`: a user can see it, and docs/differences.md lists it; `internals`: the row is about a part of
     * the MTO's code that has no counterpart; `plan`: the MTO itself has only planned it.
     */
    readonly of: "behaviour" | "internals" | "plan";
    readonly why: string;
    /** The test that shows what happens instead. It is shown before tests that carry the id. */
    readonly by?: string;
  }
  | { readonly ids: readonly string[]; readonly status: "not yet"; readonly why: string }
  | {
    readonly ids: readonly string[];
    /** The test named by `by` proves these rows although its name does not carry them. */
    readonly status: "covered";
    readonly why: string;
    readonly by: string;
  };

const SERVICES = "Archway compares no Services: its own is a manifest of the installation";
const OPERANDS =
  "Archway makes no Deployments, DaemonSets or Services, so there is none to apply twice or to set right";
const RIGHTS =
  "one process: Deployment, Service, account and rights are manifests; what someone deletes, `kubectl apply -k` brings back";
const GO = "a helper of the MTO's code without effect outside of it; plugins and conditions come from tables here";
const CACHE = "the operator reads from the API server and from no cache, so the two cannot disagree";
const ERRORS = "a step of the operator is a value that says what it waits for, so requeues and errors are not merged";
const VERSION =
  "the SecurityContextConstraints for the cluster's version are chosen by the overlay and its components, not at run time";
const NAMESPACE =
  "labels of the namespace, SecurityContextConstraints and SELinux rules are in the manifests, or are not made";
const WEBHOOK_OBJECT = "217 renderWebhookConfiguration() makes the object of spec 2.4.3";
const SHARDS = "per-namespace controllers are phase 2 of the MTO's plan MTO-0002; no version of it has them";
const CEL = "celArchitecturePlacement is a draft of the MTO (MTO-0005); no version of it has the plugin";
const NO_DAEMON =
  "the daemon's image is for amd64 and arm64; elsewhere the status of pods is looked at, which shows entry points, not programs that containers start later";
const CRDS = "the CRDs on a real API server: rows 100-116, 130-135, 152, 156-169";

const SCHEMA = "a PodPlacementConfig needs a spec with plugins, and a priority of 0 to 255";
const ABSENT = "validateNamespaceConfig() counts an absent priority as 0";
const FINALIZER = "128 129 operator keeps a finalizer on the config while namespace configs exist";
const GATED_STAY = "91 220 operator waits for a gated pod while leaving, says so, and goes when the pod is gone";
const LEASE = "Election.run() makes one of two contenders the leader and lets the other see it";

/** One for each row at most. */
export const REASONS: readonly Reason[] = [
  {
    ids: ["119"],
    status: "different",
    of: "behaviour",
    why: "the DaemonSet is made at once: pull secrets of its account are OpenShift's alone, and kubelets try again",
    by: "119 decideOperandStep() makes the DaemonSet at once, whatever pull secrets its account has",
  },
  {
    ids: ["141"],
    status: "covered",
    why: "one event with its status",
    by: "the daemon writes an event and its status for a pod of its node",
  },
  {
    ids: ["142"],
    status: "different",
    of: "internals",
    why: "the status is patched without resourceVersion, so it meets no conflict; a failed write is tried again",
    by: "the daemon writes the status again where only that failed",
  },
  {
    ids: ["143"],
    status: "different",
    of: "internals",
    why: "tried for a minute and a half, then taken back",
    by: "the daemon takes an event back whose status is refused for good",
  },
  {
    ids: ["144"],
    status: "different",
    of: "internals",
    why: "an event that is gone was handled: its annotations say what the status would",
    by: "the daemon leaves an event alone that is still to be looked at, and counts a repetition",
  },
  {
    ids: ["196"],
    status: "covered",
    why:
      "the same script; the second node of the tests is emulated: the kernel that refuses is that of amd64, and only " +
      "entry points can fail there",
    by: "200 the entry point of a container on the emulated node",
  },
  { ids: ["197", "198"], status: "different", of: "behaviour", why: NO_DAEMON },
  {
    ids: ["225"],
    status: "different",
    of: "internals",
    why: "no bytecode of our own: one bpftrace script, also for execveat",
    by: "renderTraceScript() watches execve and execveat for ENOEXEC alone",
  },
  {
    ids: ["226"],
    status: "covered",
    why: "names of every runtime and driver, by a table",
    by: "containersOn() finds nothing where there is no container of a pod",
  },
  {
    ids: ["227"],
    status: "different",
    of: "internals",
    why: "no container runtime is asked: pods come from the API server",
    by: "the daemon reports a failure whose pod its watch shows only afterwards",
  },
  {
    ids: ["228"],
    status: "covered",
    why: "ten a second, a hundred at once, a thousand waiting",
    by: "ReportFilter lets a burst pass and then so many a second; what was held back may be reported later",
  },
  { ids: ["M5-01..42", "M5-44..45", "M5-48..52"], status: "different", of: "plan", why: CEL },
  {
    ids: ["M5-43"],
    status: "covered",
    why: "without the plugin images are inspected",
    by: "E-01 TM-01 a pod of a Deployment",
  },
  { ids: ["M5-46"], status: "covered", why: "row EX-01", by: "EX-01 TM-07 177 a namespace that is excluded" },
  { ids: ["M5-47"], status: "covered", why: "configs of one of many namespaces", by: "E-41 three configs" },
  { ids: ["M2-08..11"], status: "different", of: "plan", why: SHARDS },
  { ids: ["UT-01..13", "47-59"], status: "different", of: "internals", why: SERVICES },
  { ids: ["UT-14", "UT-16..17", "UT-19", "60", "62-63", "65"], status: "different", of: "internals", why: OPERANDS },
  { ids: ["UT-15", "UT-18", "61", "64"], status: "different", of: "behaviour", why: RIGHTS },
  { ids: ["AP-03..05", "3-5", "10-13"], status: "different", of: "internals", why: GO },
  { ids: ["19", "20", "22", "26-28"], status: "different", of: "internals", why: CACHE },
  {
    ids: ["38"],
    status: "different",
    of: "internals",
    why: "a time of deletion that moves is an event like any other; no API server moves one",
  },
  { ids: ["39-46"], status: "different", of: "internals", why: ERRORS },
  { ids: ["66-73"], status: "different", of: "behaviour", why: VERSION },
  { ids: ["216"], status: "different", of: "behaviour", why: NAMESPACE },
  { ids: ["75-84"], status: "different", of: "behaviour", why: RIGHTS },
  {
    ids: ["97"],
    status: "different",
    of: "behaviour",
    why:
      "a new log level takes effect at once in the running process, so nothing is rolled out and nothing is progressing",
  },
  {
    ids: ["94-95"],
    status: "different",
    of: "behaviour",
    why:
      "one process is controller and webhook: the conditions say whether it reconciles and whether it serves, not whether two Deployments have replicas",
    by: "operator takes the webhook away only when no replica could serve for a while",
  },
  {
    ids: ["217"],
    status: "different",
    of: "behaviour",
    why:
      "of the MTO's operand objects Archway makes the webhook configuration, ServiceMonitor, PrometheusRule and DaemonSet; the others are manifests",
    by: WEBHOOK_OBJECT,
  },
  {
    ids: ["DV-61"],
    status: "different",
    of: "behaviour",
    why: "a pod that is deleted while it is gated is forgotten; that is no error and is not logged as one",
    by: "DV-61 DV-62 serve forgets a pod that was deleted, and heeds a config made while another is gated",
  },
  {
    ids: ["215"],
    status: "different",
    of: "behaviour",
    why: "one process: `serve` is a command, so there are no mode flags to contradict each other, and one Lease",
  },
  {
    ids: ["DV-63"],
    status: "different",
    of: "behaviour",
    why: "namespace configs are watched, never listed on the way; one that is seen late still wakes the gated pods",
    by: "DV-61 DV-62 serve forgets a pod that was deleted, and heeds a config made while another is gated",
  },
  {
    ids: ["DV-64"],
    status: "different",
    of: "behaviour",
    why: "a replica that may not read them is not ready; a gated pod waits five seconds, then goes without, uncounted",
    by: "while namespace configs are forbidden no pod is counted as failing, and no replica is ready",
  },
  {
    ids: ["DV-97"],
    status: "different",
    of: "behaviour",
    why: "a registries.conf that no flag names may be missing",
    by: "DV-97 openPullPlanner() does without a registries.conf that nobody named",
  },
  {
    ids: ["DV-98"],
    status: "different",
    of: "behaviour",
    why: "a policy.json that no flag names may be missing; one that is named, or rejects, refuses images",
    by: "DV-98 openPullPlanner() refuses every image when a named policy.json is missing",
  },
  {
    ids: ["DV-122"],
    status: "different",
    of: "behaviour",
    why: "what a digest holds never grows old; a tag is looked up again after five minutes instead of six hours",
    by: "DV-122 openCachedInspector() keeps digests for good and revalidates old tags by one HEAD",
  },
  {
    ids: ["DV-123"],
    status: "different",
    of: "behaviour",
    why:
      "pods of policy Always share a look-up that began after all of them were there, at most four a second for an image",
    by: "DV-123 openCachedInspector() looks a tag up again for each pod of policy Always, once for those before it",
  },
  {
    ids: ["DV-124"],
    status: "different",
    of: "behaviour",
    why: "pods of a burst share a permanent failure for a moment; the confirmation asks again",
    by: "DV-124 openCachedInspector() shares a permanent failure for a moment; the confirmation asks again",
  },
  { ids: ["AP-01", "1"], status: "covered", why: "scoring is on", by: "PM-93 scoringWanted() is true for [true]" },
  { ids: ["AP-02", "2"], status: "covered", why: "scoring is off", by: "PM-94 scoringWanted() is false for [false]" },
  {
    ids: ["74"],
    status: "covered",
    why: "the schema",
    by: "a ClusterPodPlacementConfig of another name is Invalid",
  },
  { ids: ["PC-01..06"], status: "covered", why: "rows 130-135", by: CRDS },
  { ids: ["DV-136", "DV-137"], status: "covered", why: "the schema", by: SCHEMA },
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
    by: WEBHOOK_OBJECT,
  },
  {
    ids: ["M-062..065"],
    status: "different",
    of: "internals",
    why: "the phase of the status says whether an upgrade is under way; the check of the operator is called by nothing",
  },
  {
    ids: ["M-287"],
    status: "different",
    of: "internals",
    why: "MachineSets of all pools are read together, so those of some cannot fail to be read",
  },
  {
    ids: ["M-328", "M-329"],
    status: "covered",
    why: "rows 322, 324 and 325",
    by: "M-310 M-311 M-322 M-324 M-325 adviseDrain() does what is due and nothing else",
  },
  {
    ids: ["M-394", "M-395"],
    status: "different",
    of: "internals",
    why: "about the suite of the operator itself: its own upgrade by OLM, and clusters on which it skips",
  },
  { ids: ["DV-72"], status: "covered", why: "pods are placed by the leader", by: LEASE },
  ...BUILD_REASONS,
];
