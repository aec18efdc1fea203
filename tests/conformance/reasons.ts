// Why a row has no test that carries its id. A test that carries the id counts first.
import { BUILD_REASONS } from "./build_reasons.ts";
import { covered, differs, internals, planned } from "./reason.ts";

export type Reason =
  | {
    /** Ids as at the head of a test's name; ranges as `UT-01..13` or `47-59`. */
    readonly ids: readonly string[];
    readonly status: "different";
    /**
     * `behaviour`: a user can see it, and tests/conformance/differences.md lists it; `internals`: the row is about a part of
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
  differs(
    ["119"],
    "the DaemonSet is made at once: pull secrets of its account are OpenShift's alone, and kubelets try again",
    "119 decideOperandStep() makes the DaemonSet at once, whatever pull secrets its account has",
  ),
  covered(["141"], "one event with its status", "the daemon writes an event and its status for a pod of its node"),
  internals(
    ["142"],
    "the status is patched without resourceVersion, so it meets no conflict; a failed write is tried again",
    "the daemon writes the status again where only that failed",
  ),
  internals(
    ["143"],
    "tried for a minute and a half, then taken back",
    "the daemon takes an event back whose status is refused for good",
  ),
  internals(
    ["144"],
    "an event that is gone was handled: its annotations say what the status would",
    "the daemon leaves an event alone that is still to be looked at, and counts a repetition",
  ),
  covered(
    ["196"],
    "the same script; the second node of the tests is emulated: the kernel that refuses is that of amd64, and only " +
      "entry points can fail there",
    "200 the entry point of a container on the emulated node",
  ),
  differs(["197", "198"], NO_DAEMON),
  internals(
    ["225"],
    "no bytecode of our own: one bpftrace script, also for execveat",
    "renderTraceScript() watches execve and execveat for ENOEXEC alone",
  ),
  covered(
    ["226"],
    "names of every runtime and driver, by a table",
    "containersOn() finds nothing where there is no container of a pod",
  ),
  internals(
    ["227"],
    "no container runtime is asked: pods come from the API server",
    "the daemon reports a failure whose pod its watch shows only afterwards",
  ),
  covered(
    ["228"],
    "ten a second, a hundred at once, a thousand waiting",
    "ReportFilter lets a burst pass and then so many a second; what was held back may be reported later",
  ),
  planned(["M5-01..42", "M5-44..45", "M5-48..52"], CEL),
  covered(["M5-43"], "without the plugin images are inspected", "E-01 TM-01 a pod of a Deployment"),
  covered(["M5-46"], "row EX-01", "EX-01 TM-07 177 a namespace that is excluded"),
  covered(["M5-47"], "configs of one of many namespaces", "E-41 three configs"),
  planned(["M2-08..11"], SHARDS),
  internals(["UT-01..13", "47-59"], SERVICES),
  internals(["UT-14", "UT-16..17", "UT-19", "60", "62-63", "65"], OPERANDS),
  differs(["UT-15", "UT-18", "61", "64"], RIGHTS),
  internals(["AP-03..05", "3-5", "10-13"], GO),
  internals(["19", "20", "22", "26-28"], CACHE),
  internals(["38"], "a time of deletion that moves is an event like any other; no API server moves one"),
  internals(["39-46"], ERRORS),
  differs(["66-73"], VERSION),
  differs(["216"], NAMESPACE),
  differs(["75-84"], RIGHTS),
  differs(
    ["97"],
    "a new log level takes effect at once in the running process, so nothing is rolled out and nothing is progressing",
  ),
  differs(
    ["94-95"],
    "one process is controller and webhook: the conditions say whether it reconciles and whether it serves, not whether two Deployments have replicas",
    "operator takes the webhook away only when no replica could serve for a while",
  ),
  differs(
    ["217"],
    "of the MTO's operand objects Archway makes the webhook configuration, ServiceMonitor, PrometheusRule and DaemonSet; the others are manifests",
    WEBHOOK_OBJECT,
  ),
  differs(
    ["DV-61"],
    "a pod that is deleted while it is gated is forgotten; that is no error and is not logged as one",
    "DV-61 DV-62 serve forgets a pod that was deleted, and heeds a config made while another is gated",
  ),
  differs(
    ["215"],
    "one process: `serve` is a command, so there are no mode flags to contradict each other, and one Lease",
  ),
  differs(
    ["DV-63"],
    "namespace configs are watched, never listed on the way; one that is seen late still wakes the gated pods",
    "DV-61 DV-62 serve forgets a pod that was deleted, and heeds a config made while another is gated",
  ),
  differs(
    ["DV-64"],
    "a replica that may not read them is not ready; a gated pod waits five seconds, then goes without, uncounted",
    "while namespace configs are forbidden no pod is counted as failing, and no replica is ready",
  ),
  differs(
    ["DV-97"],
    "a registries.conf that no flag names may be missing",
    "DV-97 openPullPlanner() does without a registries.conf that nobody named",
  ),
  differs(
    ["DV-98"],
    "a policy.json that no flag names may be missing; one that is named, or rejects, refuses images",
    "DV-98 openPullPlanner() refuses every image when a named policy.json is missing",
  ),
  differs(
    ["DV-122"],
    "what a digest holds never grows old; a tag is looked up again after five minutes instead of six hours",
    "DV-122 openCachedInspector() keeps digests for good and revalidates old tags by one HEAD",
  ),
  differs(
    ["DV-123"],
    "pods of policy Always share a look-up that began after all of them were there, at most four a second for an image",
    "DV-123 openCachedInspector() looks a tag up again for each pod of policy Always, once for those before it",
  ),
  differs(
    ["DV-124"],
    "pods of a burst share a permanent failure for a moment; the confirmation asks again",
    "DV-124 openCachedInspector() shares a permanent failure for a moment; the confirmation asks again",
  ),
  covered(["AP-01", "1"], "scoring is on", "PM-93 scoringWanted() is true for [true]"),
  covered(["AP-02", "2"], "scoring is off", "PM-94 scoringWanted() is false for [false]"),
  covered(["74"], "the schema", "a ClusterPodPlacementConfig of another name is Invalid"),
  covered(["PC-01..06"], "rows 130-135", CRDS),
  covered(["DV-136", "DV-137"], "the schema", SCHEMA),
  covered(["M2-06"], "two absent priorities", `DV-132 223 ${ABSENT}`),
  covered(["EX-18"], "row 186", "186 validateClusterConfig() refuses an architecture that comes twice"),
  covered(["EX-13", "EP-05", "207"], "rows 128 and 129", FINALIZER),
  covered(["EX-17"], "row 91", GATED_STAY),
  covered(["DV-27"], "registered with failurePolicy Ignore", WEBHOOK_OBJECT),
  internals(
    ["M-062..065"],
    "the phase of the status says whether an upgrade is under way; the check of the operator is called by nothing",
  ),
  differs(
    ["M-118"],
    "recognised as equal, and the plan has nothing to do instead of being invalid",
    "M-118 the same version is equal",
  ),
  differs(
    ["M-166"],
    "the upgrade goes on without the notice",
    "M-166 the notice that there is no capacity may fail to be sent: it is not recorded, and the upgrade goes on",
  ),
  internals(["M-285", "M-287"], "MachineSets of all pools are read together, so those of some cannot fail to be read"),
  {
    ids: ["M-313"],
    status: "different",
    of: "internals",
    why: "a pod that may not be deleted fails nothing: it is tried again at the next look",
    by: "M-313 a pod that cannot be deleted keeps no other from it, and a list that fails is an error",
  },
  covered(
    ["M-328", "M-329"],
    "rows 322, 324 and 325",
    "M-310 M-311 M-322 M-324 M-325 adviseDrain() does what is due and nothing else",
  ),
  internals(
    ["M-394", "M-395"],
    "about the suite of the operator itself: its own upgrade by OLM, and clusters on which it skips",
  ),
  covered(["DV-72"], "pods are placed by the leader", LEASE),
  ...BUILD_REASONS,
];
