// `archway explain` and `archway release` as a person runs them: child processes against a real control plane, for a pod
// of every kind of ending.
import assert from "node:assert/strict";
import { type CommandResult, runArchway } from "../support/archway_program.ts";
import { createPods, isReleased, isScheduled, type PodSpec, waitForPods } from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

const GATE = "multiarch.openshift.io/scheduling-gate";

async function createEndings(bed: WalkBed, namespace: string): Promise<void> {
  const warm = await bed.push("demo/warm", index("arm64"));
  const amd = await bed.push("demo/amd", index("amd64"));
  const stuck = await bed.push("slow/app", index("amd64"));
  bed.proxy.setFaults([{ fault: { kind: "blackHole" }, repository: "slow/" }]);
  const first: readonly PodSpec[] = [
    { name: "cold", images: [warm] },
    { name: "fallen", images: [`${bed.proxy.host}/demo/no-such-image:v1`] },
    { name: "nowhere", images: [warm, amd] },
    { name: "ignored", images: [amd], spec: { nodeSelector: { "kubernetes.io/arch": "amd64" } } },
    { name: "quota", images: [amd], gates: ["example.com/quota"] },
  ];
  await createPods(bed.controlPlane, namespace, { pods: first });
  const waiting = ["nowhere", "quota"];
  await waitForPods(bed.controlPlane, namespace, {
    count: first.length,
    until: (pod) => isReleased(pod) && (waiting.includes(pod.name) || isScheduled(pod)),
  });
  const last: readonly PodSpec[] = [{ name: "warm", images: [warm] }, { name: "stuck", images: [stuck] }];
  await createPods(bed.controlPlane, namespace, { pods: last });
}

Deno.test("explain and release report of every kind of ending what a user needs, by text, document and exit code", async () => {
  await using bed = await openWorkingBed({
    spec: { fallbackArchitecture: "s390x", namespaceSelector: { matchLabels: { placed: "yes" } } },
    // No replica may release the stuck pod before it was looked at.
    replica: { args: ["--max-gate-age=5m"] },
  });
  const { controlPlane } = bed;
  const [namespace, other] = [
    await controlPlane.createNamespace("endings"),
    await controlPlane.createNamespace("other"),
  ];
  await controlPlane.kubectl(["label", "namespace", namespace, "placed=yes"]);
  await createEndings(bed, namespace);
  await createPods(controlPlane, other, { pods: [{ name: "unseen", images: ["web"] }] });
  const access = ["--kubeconfig", controlPlane.kubeconfigFile];
  const explain = (name: string, ...more: readonly string[]): Promise<CommandResult> =>
    runArchway(["explain", `pod/${name}`, "-n", namespace, ...access, ...more]);
  /** Waits for the scheduler and the kubelet where the words depend on them. */
  const explained = (name: string, pattern: RegExp): Promise<string> =>
    waitUntil(`explain ${name} to say ${pattern}`, async () => {
      const { code, stdout, stderr } = await explain(name);
      assert.deepEqual([code, stderr], [0, ""]);
      return pattern.test(stdout) && stdout;
    }, { intervalMs: 500 });

  assert.match(
    await explained("warm", /^State +(Scheduled|Running) on arm64/m),
    /\{arm64\}.*\nNext +Nothing to do\.\n\nIMAGE/,
  );
  assert.match(await explained("nowhere", /The scheduler says: /), /demo\/warm:v1 has arm64; .*demo\/amd:v1 has amd64/);
  assert.match(await explained("fallen", /fell back to \{s390x\}/), /no-such-image[^]*^Next +Correct the name/m);
  assert.match(await explained("ignored", /left it alone/), /names the architecture already/);
  assert.match(await explained("quota", /still held by example\.com\/quota/), /^Next +Ask the owner/m);
  assert.match(await explained("stuck", /Held by Archway's gate for \d+s/), /^Next +/m);
  const unseen = await runArchway(["explain", `${other}/unseen`, ...access]);
  assert.match(unseen.stdout, /does not select its namespace/);

  const document = JSON.parse((await explain("nowhere", "-o", "json")).stdout);
  assert.deepEqual([document.namespace, document.pod, document.record.decision], [namespace, "nowhere", "nowhere"]);
  const missing = await explain("nobody");
  assert.deepEqual([missing.code, missing.stdout], [1, ""]);
  assert.match(missing.stderr, /there is none in namespace/);
  assert.equal((await runArchway(["explain", ...access])).code, 2);
  const unreachable = await runArchway(["explain", "pod/x", "--kubeconfig", "/no/such/kubeconfig"]);
  assert.equal(unreachable.code, 3);
  assert.match(unreachable.stderr, /^archway: Cannot read kubeconfig "\/no\/such\/kubeconfig"/);

  const dry = await runArchway(["release", "--dry-run", "-o", "json", ...access]);
  assert.deepEqual([dry.code, JSON.parse(dry.stdout)], [0, {
    dryRun: true,
    released: [`${namespace}/stuck`],
    left: [],
  }]);
  const released = await runArchway(["release", ...access]);
  assert.equal(released.code, 0, released.stderr);
  assert.match(released.stdout, new RegExp(`^${namespace}/stuck +released$`, "m"));
  await waitForPods(controlPlane, namespace, { count: 7, until: ({ gates }) => !gates.includes(GATE) });
  assert.equal((await runArchway(["release", ...access])).stdout, "No pod holds Archway's gate.\n");
  assert.match(await explained("stuck", /^State +(Scheduled|Running|Pending)/m), /^Why /m);
});
