// `deno task test:e2e` against Archway on the nodes, with the rights that CONTRIBUTING.md lists and no others.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { renderConfig, renderPool } from "../cluster/support/build_objects.ts";
import { FROM, imageOf } from "../cluster/support/simulated_openshift.ts";
import { waitForTaints } from "../cluster/support/taint_bed.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { type Ended, runToEnd } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { mountTracefs } from "./support/exec_format_daemon.ts";
import { BUILDS, type ImageBuildBed, openImageBuildBed, trusting } from "./support/image_build_bed.ts";
import { PUSH_SECRET } from "./support/image_build_objects.ts";
import { configure, ensureDaemonImage, install, kubectl, plainRegistry, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function run({ kubectlFile }: OpenLab, args: readonly string[]): Promise<Ended> {
  // kubectl, for the metrics.
  const env = { NO_COLOR: "1", PATH: `${dirname(kubectlFile)}:${Deno.env.get("PATH") ?? ""}` };
  return await runToEnd(Deno.execPath(), ["run", "-A", "--no-check", `${ROOT}tests/e2e/run.ts`, ...args], { env });
}

async function openUser(lab: OpenLab): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}CONTRIBUTING.md`);
  const [, role = ""] = /```yaml\n(apiVersion: rbac[^`]*name: archway-e2e [^`]*)```/.exec(page) ?? [];
  await lab.run(["apply", "-f", "-"], { stdin: role });
  const namespace = await lab.createNamespace("user");
  await kubectl(lab, "-n", namespace, "create", "serviceaccount", "user");
  const subject = `--serviceaccount=${namespace}:user`;
  await kubectl(lab, "create", "clusterrolebinding", "archway-e2e", "--clusterrole=archway-e2e", subject);
  return await lab.serviceAccountKubeconfig({ namespace, name: "user" });
}

async function hasLeft(lab: OpenLab): Promise<boolean> {
  const names = await kubectl(lab, "get", "namespaces", "-o", "name");
  return names.split("\n").some((name) => name.includes("archway-e2e-"));
}

const COMPONENTS = ["exec-format-errors", "arch-taints", "upgrades", "image-builds"];
/** Of OpenShift; roles of upgrades are in them. */
const NAMESPACES = ["openshift-machine-api", "openshift-monitoring", "openshift-config"];
const EMPTY = "empty";

/** The version of the cluster, and a pool without nodes with what its image is made of. */
async function playOpenShift(lab: OpenLab, { registry }: ImageBuildBed): Promise<void> {
  const version = {
    ...{ apiVersion: "config.openshift.io/v1", kind: "ClusterVersion", metadata: { name: "version" } },
    spec: { clusterID: crypto.randomUUID() },
  };
  const containerFile = [{ containerfileArch: "NoArch", content: "FROM configs AS final\nRUN touch /etc/built\n" }];
  const annotations = { "archway.dev/architectures": "amd64" };
  const wanted = { pool: EMPTY, pushSecret: PUSH_SECRET, annotations, containerFile };
  const pool = renderPool(EMPTY, "rendered-worker-1");
  await lab.apply([version, pool, renderConfig(wanted, `${registry.host}/team/${EMPTY}`)]);
  const desired = { version: FROM, image: imageOf(FROM) };
  const [startedTime, completionTime] = ["2026-01-31T22:00:00Z", "2026-01-31T23:00:00Z"];
  const history = [{ ...desired, state: "Completed", verified: true, startedTime, completionTime }];
  const states = [
    ["clusterversion/version", { desired, history, observedGeneration: 1, versionHash: "a", availableUpdates: [] }],
    [`machineconfigpool/${EMPTY}`, { machineCount: 0 }],
  ] as const;
  for (const [object, status] of states) {
    await kubectl(lab, "patch", object, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
  }
}

async function installAll(lab: OpenLab, bed: ImageBuildBed): Promise<void> {
  const daemon = await ensureDaemonImage(lab);
  await mountTracefs(lab);
  await install(lab, {
    components: COMPONENTS,
    args: [plainRegistry(lab), `--exec-format-image=${daemon}`],
    deployments: [BUILDS, "archway-upgrades"],
    others: trusting(bed),
  });
  await configure(lab, { plugins: { execFormatErrorMonitor: { enabled: true } } });
}

Deno.test("node: test:e2e checks an installation with a user's rights, and cleans up", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const kubeconfig = await openUser(lab);
  const common = ["--kubeconfig", kubeconfig, "--run", "--timeout", "90"];

  await t.step("reports that there is no kubeconfig, and no Archway", async () => {
    const nowhere = await run(lab, ["--kubeconfig", "/nonexistent"]);
    assert.deepEqual([nowhere.code, nowhere.out], [3, ""]);
    assert.match(nowhere.err, /Cannot read kubeconfig "\/nonexistent"/);
    const bare = await run(lab, common);
    assert.deepEqual([bare.code, bare.out], [3, ""]);
    assert.match(bare.err, /the API group multiarch\.openshift\.io is unknown here\. Install it first/);
  });

  await install(lab);
  await t.step("reports that there is no config", async () => {
    const { code, err } = await run(lab, common);
    assert.equal(code, 3);
    assert.match(err, /Create a ClusterPodPlacementConfig named cluster/);
  });

  await configure(lab);
  await t.step("finds all well, with containers that run on both architectures", async () => {
    const images = ["multi", "arm-index", "amd-single"].flatMap((name) => ["--image", lab.image(name)]);
    const { code, out, err } = await run(lab, [...common, ...images, "-o", "json"]);
    assert.deepEqual([code, err], [0, ""], out);
    const outcomes: readonly { readonly check: string; readonly result: string; readonly detail: string }[] = JSON
      .parse(out);
    assert.deepEqual(outcomes.filter(({ result }) => result === "failed"), []);
    const leftOut = outcomes.filter(({ result }) => result === "skipped").map(({ detail }) => detail).join("\n");
    const reasons = [
      /^No node has a taint/,
      /^Name an image whose program/m,
      /^This is no OpenShift/m,
      /--build-config/,
    ];
    assert.equal(leftOut.split("\n").length, reasons.length, leftOut);
    for (const reason of reasons) assert.match(leftOut, reason);
    const details = outcomes.map(({ detail }) => detail).join("\n");
    assert.match(details, /placed on \{arm64\}, bound to n2 \(arm64\), runs/);
    assert.match(details, /ArchAwareInspectionError Cannot inspect image ".*archway-e2e\/no-such-image:v1"/);
  });

  await t.step("finds what fails, and leaves nothing behind", async () => {
    const { code, out } = await run(lab, [...common, "--image", lab.image("none")]);
    assert.equal(code, 1, out);
    assert.match(out, /^CHECK +RESULT +WHAT WAS SEEN\n/);
    assert.match(out, /t\/none:v1 is placed +failed +ArchAwareInspectionError Cannot inspect image ".*t\/none:v1"/);
    await waitUntil("its namespaces to go", async () => !await hasLeft(lab), { deadlineMs: 60_000 });
  });

  await uninstall(lab);
  await kubectl(lab, "delete", "clusterrolebinding,clusterrole", "archway-e2e");
});

Deno.test("node: test:e2e covers taints, exec format errors, a plan and an image build where there is what they need", {
  ignore: lacks("nodes") || lacks("tracing"),
}, async () => {
  await using lab = await openLab();
  await using bed = await openImageBuildBed(lab);
  await kubectl(lab, "label", "nodes", "--all", "node-role.kubernetes.io/worker-");
  for (const name of NAMESPACES) await kubectl(lab, "create", "namespace", name);
  await installAll(lab, bed);
  await playOpenShift(lab, bed);
  const firstImage = (): Promise<string> =>
    kubectl(lab, "get", "machineosconfig", EMPTY, "-o", "jsonpath={.status.currentImagePullSpec}");
  await waitUntil("the first image", async () => await firstImage() !== "", { deadlineMs: 600_000 });
  const wanted = ["--wrong-image", lab.image("lying-single"), "--build-config", EMPTY, "--timeout", "240"];
  const args = ["--kubeconfig", await openUser(lab), "--image", lab.image("multi"), ...wanted];
  const { code, out, err } = await run(lab, args);
  assert.deepEqual([code, err], [0, ""], out);
  const seen = [
    /^taints are tolerated +passed +supported-arch=amd64, supported-arch=arm64, on 3 nodes$/m,
    /^exec format error is reported +passed +ExecFormatError Container "app" is running .* \(amd64\): \/app\./m,
    /^upgrade plan is judged +passed +a plan for 4\.20\.1 is taken, one for 0\.0\.1 is not: spec\.desired\.version /m,
    /^image is built +passed +\S+\/team\/empty@sha256:[0-9a-f]{64} for amd64$/m,
    /^9 passed, 0 failed, 0 skipped$/m,
  ];
  for (const each of seen) assert.match(out, each);
  await kubectl(lab, "delete", "machineosconfig", EMPTY, "--timeout=60s");
  await uninstall(lab, { components: COMPONENTS });
  await waitForTaints(lab, { n1: "", n2: "", n3: "" });
  await kubectl(lab, "delete", "namespaces", ...NAMESPACES, "--timeout=60s");
  await kubectl(lab, "delete", "clusterrolebinding,clusterrole", "archway-e2e");
});
