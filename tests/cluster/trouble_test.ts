// Trouble is found by looking: for each typical mistake, what `kubectl describe pod`, `kubectl get clusterpodplacementconfig`,
// `archway explain` and the log say names the cause and the next step.
import assert from "node:assert/strict";
import { runArchway } from "../support/archway_program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { type Archway, enablePlacement, type LogLine } from "./support/archway.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { clusterConfig, POD_WEBHOOK } from "./support/objects.ts";
import { createAuthority } from "./support/pki.ts";
import { createDeployment, createPods, isReleased, type PodSpec, waitForPods } from "./support/pods.ts";
import { findFreePort } from "./support/ports.ts";
import { startRegistry } from "./support/registry.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWalkBed, type WalkBed } from "./support/walk_bed.ts";

const ELECTION = "/apis/rbac.authorization.k8s.io/v1/namespaces/archway-system/rolebindings/archway-election";
const RECREATE = /recreate the pod/i;
/** The last try before a release may be held back, as the registry kept failing: what it failed of is said then as well. */
const UNREACHABLE = /(?:Unreachable|CircuitOpen): /;

async function kubectl(cluster: ClusterAccess, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await cluster.kubectl(args);
  return stdout + stderr;
}

async function explain({ controlPlane }: WalkBed, pod: string): Promise<string> {
  const { stdout, stderr } = await runArchway(["explain", pod, "--kubeconfig", controlPlane.kubeconfigFile]);
  return stdout + stderr;
}

function assertSays(text: string, sayings: readonly RegExp[]): void {
  for (const saying of sayings) assert.match(text, saying);
}

async function waitToSay(what: string, look: () => Promise<string>, sayings: readonly RegExp[]): Promise<void> {
  let text = "";
  try {
    await waitUntil(what, async () => {
      text = await look();
      return sayings.every((saying) => saying.test(text));
    }, { intervalMs: 500 });
  } catch {
    assertSays(text, sayings);
  }
}

/** One line an entry: its level, what it says, and its fields. */
function logText(lines: readonly LogLine[]): string {
  return lines.map(({ level, message, properties }) => `${level} ${message} ${JSON.stringify(properties)}`).join("\n");
}

/** A pod with a mistake, and what is to be read of it where. */
interface Mistake {
  readonly name: string;
  readonly pod: PodSpec;
  /** `kubectl describe pod`. */
  readonly events: readonly RegExp[];
  /** `archway explain`. */
  readonly explained: readonly RegExp[];
  readonly log?: readonly RegExp[];
}

interface Places {
  readonly bed: WalkBed;
  readonly privateHost: string;
  readonly awayHost: string;
}

async function podMistakes({ bed, privateHost, awayHost }: Places): Promise<readonly Mistake[]> {
  const { proxy, registry } = bed;
  await registry.push("team/blank", "v1", { single: { architecture: "" } });
  const rare = await bed.push("team/rare", index("riscv64"));
  return [
    {
      name: "a wrong image",
      pod: { name: "wrong-image", images: [`${proxy.host}/team/web:v2`] },
      events: [
        /Cannot find image ".*team\/web:v2": the registry does not have it\. Correct the name or the tag/,
        RECREATE,
      ],
      explained: [/ManifestUnknown: Cannot find image/, /Next +Correct the name or the tag/, RECREATE],
      log: [/INFO pod released .*"image":".*team\/web:v2","failure":"ManifestUnknown","error":"Cannot find image/],
    },
    {
      name: "no pull secret",
      pod: { name: "no-secret", images: [`${privateHost}/team/web:v1`] },
      events: [/answered 401 \(no pull secret matches it\)\. Name a pull secret for .* in imagePullSecrets of the pod/],
      explained: [/Unauthorized: Cannot read image/, /Next +Name a pull secret for the registry/, RECREATE],
      log: [/"failure":"Unauthorized"/],
    },
    {
      name: "a pull secret that is not there",
      pod: { name: "absent-secret", images: [`${privateHost}/team/web:v1`], pullSecrets: ["regcred"] },
      events: [/Pull secrets of no use: regcred \(not found\)\. Check that the pull secrets of the pod \(regcred\)/],
      explained: [/regcred \(not found\)/, /Next +Check that the pull secrets of the pod \(regcred\)/],
      log: [/INFO pod released .*absent-secret.*"failure":"Unauthorized"/],
    },
    {
      name: "a registry that is away",
      pod: { name: "away", images: [`${awayHost}/team/web:v1`] },
      events: [/takes no connections .*Check that it runs\. Archway asks from the network of its own pods/, RECREATE],
      explained: [UNREACHABLE, /takes no connections/, /Next +Check that it runs\./],
      log: [/WARN registry fails \{"registry":"127\.0\.0\.1:\d+","cause":".*takes no connections/],
    },
    {
      name: "no node of the architecture",
      pod: { name: "no-node", images: [rare] },
      events: [/Set the supported architectures to \{riscv64\}/, /FailedScheduling.*node affinity/],
      explained: [
        /all run on \{riscv64\}/,
        /The scheduler says: 0\/\d+ nodes/,
        /Where none is listed, add such a node/,
      ],
    },
    {
      name: "a name that only the nodes can reach",
      pod: { name: "on-node", images: ["localhost:5000/team/web:v1"] },
      events: [
        /is a loopback, .*declare it with --registry localhost:5000\. .*Archway finds its own pod, not the node/,
      ],
      explained: [/AddressDenied: /, /Next +At a loopback address Archway finds its own pod/],
      log: [/INFO pod released .*"image":"localhost:5000\/team\/web:v1","failure":"AddressDenied"/],
    },
    {
      name: "a registry in a network that Archway is not in",
      pod: { name: "other-network", images: ["registry.only-on-nodes.invalid/team/web:v1"] },
      events: [
        /could not be reached\. If it is meant to be used, declare it with --registry .*not of the nodes: check the DNS/,
      ],
      explained: [UNREACHABLE, /not of the nodes: check the DNS/],
      log: [/INFO pod released .*only-on-nodes\.invalid\/team\/web:v1","failure":"(?:Unreachable|CircuitOpen)"/],
    },
    {
      name: "an image without platform",
      pod: { name: "no-platform", images: [`${proxy.host}/team/blank:v1`] },
      events: [/\(permanent, NotAnImage\): Cannot run .*team\/blank.*build it again with a platform/],
      explained: [/NotAnImage: /, /Next +.*build it again with a platform/],
      log: [/INFO pod released .*team\/blank:v1","failure":"NotAnImage"/],
    },
  ];
}

async function createOverQuota({ controlPlane }: WalkBed): Promise<string> {
  const namespace = await controlPlane.createNamespace("quota");
  const quota = { metadata: { name: "few" }, spec: { hard: { pods: "0" } } };
  await controlPlane.create(`/api/v1/namespaces/${namespace}/resourcequotas`, quota);
  await createDeployment(controlPlane, namespace, { name: "web", images: ["web"], replicas: 1 });
  return namespace;
}

async function bundleOf({ controlPlane }: WalkBed): Promise<string> {
  return String(read(await controlPlane.get(POD_WEBHOOK), "webhooks", 0, "clientConfig", "caBundle") ?? "");
}

Deno.test("trouble: events, config, explain and log name cause and next step of each typical mistake", async (t) => {
  await using bed = await openWalkBed();
  await using locked = await startRegistry({ auth: "htpasswd" });
  await locked.push("team/web", "v1", index("amd64"));
  const awayHost = `127.0.0.1:${findFreePort()}`;
  const args = ["--max-gate-age=8s"];
  const registries = [{ host: locked.host, caFile: locked.caFile }, { host: awayHost }];
  const archway = await bed.startReplica({ args, registries });
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("trouble");
  await bed.push("team/web", index("amd64"));

  await t.step("a config of another name", async () => {
    const stdin = JSON.stringify(clusterConfig({}, { name: "default" }));
    const { stderr } = await controlPlane.kubectl(["apply", "-f", "-"], { stdin });
    assert.match(stderr, /metadata\.name: Unsupported value: "default": supported values: "cluster"/);
    assert.match(await kubectl(controlPlane, "get", "clusterpodplacementconfig"), /No resources found/);
    await createPods(controlPlane, namespace, { pods: [{ name: "before", images: ["web"] }] });
    const said = [/there is no ClusterPodPlacementConfig/, /Next +Create a ClusterPodPlacementConfig named cluster/];
    assertSays(await explain(bed, `${namespace}/before`), said);
    const logged = [/WARN not gating pods \{"reason":"ConfigAbsent"/];
    await waitToSay("the log", async () => logText(await archway.logs()), logged);
  });
  await enablePlacement(controlPlane);
  await t.step("the config reports that it works", async () => {
    const look = (): Promise<string> => kubectl(controlPlane, "get", "clusterpodplacementconfig");
    await waitToSay("the config to be Available", look, [/cluster +True +False +False .*AllComponentsReady/]);
  });

  const mistakes = await podMistakes({ bed, privateHost: locked.host, awayHost });
  // The log warns after five failures in a row: two images are asked for that often well before their pods are released.
  const pods = [...mistakes.map(({ pod }) => pod), { name: "away-too", images: [`${awayHost}/team/api:v1`] }];
  await createPods(controlPlane, namespace, { pods });
  await waitForPods(controlPlane, namespace, { count: pods.length + 1, until: isReleased });
  for (const { name, pod, events, explained, log = [] } of mistakes) {
    await t.step(name, async () => {
      await waitToSay("the events", () => kubectl(controlPlane, "describe", "pod", pod.name, "-n", namespace), events);
      await waitToSay("the explanation", () => explain(bed, `${namespace}/${pod.name}`), explained);
      await waitToSay("the log", async () => logText(await archway.logs()), log);
    });
  }

  await t.step("a quota", async () => {
    const limited = await createOverQuota(bed);
    const said = [/FailedCreate.*exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0/];
    await waitToSay("the owner", () => kubectl(controlPlane, "describe", "replicasets", "-n", limited), said);
    const next = new RegExp(
      `there is none in namespace.*kubectl get (events -n ${limited} --field-selector reason=FailedCreate)`,
    );
    const [, command = ""] = next.exec(await explain(bed, `${limited}/web-0`)) ?? [];
    assert.match(await kubectl(controlPlane, "get", ...command.split(" ")), /exceeded quota: few/);
  });

  await t.step("another CA in the webhook's registration is put right at once", async () => {
    const before = await bundleOf(bed);
    const value = btoa((await createAuthority("somebody else")).certificatePem);
    await controlPlane.patch(POD_WEBHOOK, [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }]);
    await waitUntil("the CA to be back", async () => await bundleOf(bed) === before);
    const said = [/webhook configuration applied .*"reason":"it changed"/];
    await waitToSay("the log", async () => logText(await archway.logs()), said);
  });

  await t.step("no leader", () => assertLeaderless(bed, { archway, namespace }));

  await t.step("a CA that did not issue the serving certificate", async () => {
    await archway.stop();
    await using folder = await temporaryFolder();
    const caFile = `${folder.path}/ca.crt`;
    await Deno.writeTextFile(caFile, (await createAuthority("somebody else")).certificatePem);
    const misled = await bed.startReplica({ name: "misled", args: [...args, `--tls-ca=${caFile}`] });
    const said = [
      /WARN the CA of the webhooks did not issue the serving certificate .*"next":"API servers will not call/,
    ];
    await waitToSay("the log", async () => logText(await misled.logs()), said);
    await waitUntil("its own registration", async () => {
      return JSON.stringify(await controlPlane.get(POD_WEBHOOK)).includes(misled.webhookUrl);
    });
    await createPods(controlPlane, namespace, { pods: [{ name: "passed", images: ["web"] }] });
    const explained = [/no replica answered then/, /the API server cannot call Archway; its log names the cause/];
    assertSays(await explain(bed, `${namespace}/passed`), explained);
    await misled.stop();
  });
});

async function assertLeaderless(
  bed: WalkBed,
  { archway, namespace }: { readonly archway: Archway; readonly namespace: string },
): Promise<void> {
  const { controlPlane } = bed;
  const binding = await controlPlane.request("GET", ELECTION);
  expectStatus("read the binding", binding, [200]);
  await controlPlane.delete(ELECTION);
  const columns = [/cluster +False .*(?:LeaderSilent|NoLeader)/];
  await waitToSay("the config", () => kubectl(controlPlane, "get", "clusterpodplacementconfig"), columns);
  const message = [
    /GatingStopped/,
    /No replica renews the Lease of Archway: look at its pods, their log, and their right/,
  ];
  assertSays(await kubectl(controlPlane, "describe", "clusterpodplacementconfig", "cluster"), message);
  await createPods(controlPlane, namespace, { pods: [{ name: "leaderless", images: ["registry.invalid/x:v1"] }] });
  const explained = [/Gating is stopped: (?:LeaderSilent|NoLeader)\. /, /Next +Look whether Archway runs.*pods,lease/];
  assertSays(await explain(bed, `${namespace}/leaderless`), explained);
  assert.match(logText(await archway.logs()), /WARN not gating pods \{"reason":"(?:LeaderSilent|NoLeader)"/);
  const { apiVersion, kind, roleRef, subjects } = Object(binding.body);
  const again = { apiVersion, kind, metadata: { name: "archway-election" }, roleRef, subjects };
  const path = ELECTION.slice(0, ELECTION.lastIndexOf("/"));
  await controlPlane.create(path, again);
  const well = [/cluster +True +False +False .*AllComponentsReady/];
  await waitToSay("all to be well", () => kubectl(controlPlane, "get", "clusterpodplacementconfig"), well);
}
