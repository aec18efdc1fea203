// Upgrades and image builds, which need OpenShift's APIs: installed by the kustomization of their pages as it stands there, beside
// OpenShift's own definitions and namespaces; each works within its rights, and with the manifests all of it goes.
import assert from "node:assert/strict";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { BUILD_NAMESPACE } from "../cluster/support/build_objects.ts";
import { type ApiAnswer, conditionOf, expectStatus, read } from "../cluster/support/cluster_access.ts";
import { applyDefinitions } from "../cluster/support/openshift_crds.ts";
import { PLANS, SimulatedOpenShift } from "../cluster/support/simulated_openshift.ts";
import { phaseOf, PLAN, prepareUpgrades } from "../cluster/support/upgrade_plane.ts";
import { planOf } from "../cluster/support/upgrade_bed.ts";
import { PLAN_WEBHOOK } from "../cluster/support/upgrade_service.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { kustomizationOf } from "../support/page_commands.ts";
import { defineKinds, injectCa, keepCertificate, keepTrustedCa } from "./support/foreign_apis.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { ensureImage, kubectl, NAMESPACE, rolledOut } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { openPasteShell, type PasteShell } from "./support/pasted.ts";
import { auditLength, refusedSince } from "./support/refusals.ts";

const DEFINITIONS = ["machineosconfigs", "machineosbuilds", "controllerconfigs"] as const;
/** Of a cluster of OpenShift; roles are in them. */
const NAMESPACES = ["openshift-config", "openshift-monitoring", BUILD_NAMESPACE, "openshift-machine-api"];
/** The machine config operator's own image, which builds unless another is named. */
const IMAGES = JSON.stringify({ machineConfigOperator: "registry.invalid/mco:1" });
const UPGRADES = "openshift-managed-upgrade-operator";
const BUILDS = "/apis/machineconfiguration.openshift.io/v1";

async function readPage(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
}

/** The part of OpenShift that these components use; its cluster version operator runs until disposal. */
async function playOpenShift(lab: OpenLab): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  for (const name of NAMESPACES) {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    expectStatus("create a namespace", await lab.request("POST", "/api/v1/namespaces", namespace), [201, 409]);
  }
  undo.defer(async () => void await kubectl(lab, "delete", "namespaces", ...NAMESPACES, "--ignore-not-found"));
  const images = ["create", "configmap", "machine-config-operator-images", `--from-literal=images.json=${IMAGES}`];
  await kubectl(lab, "-n", BUILD_NAMESPACE, ...images);
  undo.use(await defineKinds(lab, ["ServiceMonitor", "PrometheusRule"]));
  undo.defer(() => removeDefinitions(lab));
  await applyDefinitions(lab, DEFINITIONS);
  await prepareUpgrades(lab);
  undo.use(await SimulatedOpenShift.open(lab, { pools: {}, stepMs: 500 }));
  return undo.move();
}

async function removeDefinitions(lab: OpenLab): Promise<void> {
  const names = (await kubectl(lab, "get", "crds", "-o", "name")).split("\n");
  const own = names.filter((name) => /\.openshift\.io$/.test(name) && !name.includes("multiarch"));
  if (own.length > 0) await kubectl(lab, "delete", ...own, "--timeout=60s");
}

/** Writes the page's kustomization.yaml, and applies it as README says of components. */
async function applyPage(shell: PasteShell, kustomization: string): Promise<void> {
  await shell.write("kustomization.yaml", kustomization);
  await shell.paste("kubectl apply -k .");
}

/** What the page leaves to choose: components in its comments. */
function optionsOf(kustomization: string): readonly string[] {
  return [...kustomization.matchAll(/#.*(manifests\/components\/[a-z-]+)/g)].map(([, component = ""]) => component);
}

/** The webhook's answer, once its leader has written the CA and the API server uses it. */
async function createPlan(lab: OpenLab, spec: Readonly<Record<string, unknown>>): Promise<ApiAnswer> {
  return await waitUntil("an answer of the webhook", async () => {
    const answer = await lab.request("POST", PLANS, planOf(spec));
    return answer.status !== 500 && answer;
  }, { deadlineMs: 60_000, intervalMs: 500 });
}

async function assertUpgrades(lab: OpenLab, shell: PasteShell): Promise<void> {
  await rolledOut(lab, { namespace: UPGRADES, name: "archway-upgrades" });
  const hook = await lab.get(PLAN_WEBHOOK);
  assert.equal(read(hook, "webhooks", 0, "clientConfig", "service", "name"), "archway-upgrades-webhook");
  const refused = await createPlan(lab, { desired: { version: "4.19.9", channel: "stable-4.19" } });
  assert.equal(refused.status, 422, JSON.stringify(refused.body));
  assert.match(String(read(refused.body, "message")), /4\.19\.9 is older than .*: downgrades are not supported/);
  await kubectl(lab, "-n", UPGRADES, "create", "configmap", "managed-upgrade-operator-config", SETTINGS);
  const upgradeAt = renderTime(Date.now() + 12 * 60 * 60_000);
  expectStatus("create the plan", await createPlan(lab, { upgradeAt }), [201]);
  await waitUntil("the phase Pending", async () => phaseOf(await lab.get(PLAN)) === "Pending", { deadlineMs: 60_000 });
  const status = `kubectl -n ${UPGRADES} exec deployment/archway-upgrades -- archway upgrade status`;
  assert.match(await shell.paste(status), /Pending/);
  await kubectl(lab, "-n", UPGRADES, "delete", "upgradeconfig", "managed-upgrade-config", "--timeout=60s");
}

const SETTINGS = "--from-literal=config.yaml=configManager: { source: LOCAL }";

/** A configuration for a pool that is not there, and the word of the service on it. */
async function assertImageBuilds(lab: OpenLab): Promise<void> {
  await rolledOut(lab, { name: "archway-image-builds" });
  const service = ["get", "service", "archway-image-builds", "-o", "jsonpath={.spec.clusterIP}"];
  const address = await kubectl(lab, "-n", NAMESPACE, ...service);
  await waitUntil("its Service to answer", async () => {
    const response = await fetch(`http://${address}:8080/metrics`);
    return (await response.text()).includes("archway_") && response.ok;
  });
  await lab.create(`${BUILDS}/machineosconfigs`, {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineOSConfig", metadata: { name: "layered" } },
    spec: {
      machineConfigPool: { name: "layered" },
      imageBuilder: { imageBuilderType: "Job" },
      renderedImagePushSecret: { name: "push" },
      renderedImagePushSpec: `${lab.lab.registry}/os/layered:latest`,
    },
  });
  await waitUntil("the condition BuildNotPossible", async () => {
    const found = conditionOf(await lab.get(`${BUILDS}/machineosconfigs/layered`), "BuildNotPossible");
    return read(found, "status") === "True" && read(found, "reason") === "PoolNotFound";
  }, { deadlineMs: 60_000 }).catch(async (cause: unknown) => {
    const log = await kubectl(lab, "-n", "archway-system", "logs", "deployment/archway-image-builds", "--tail=40");
    throw new Error(`Not said. The log: ${log}`, { cause });
  });
  expectStatus("delete it", await lab.request("DELETE", `${BUILDS}/machineosconfigs/layered`), [200, 202]);
}

/** No role, binding, Service or Deployment of it in any namespace, and no definition of a plan. */
async function assertGone(lab: OpenLab): Promise<void> {
  await assertNothingLeft(lab);
  const kinds = "roles,rolebindings,services,deployments,serviceaccounts,configmaps,networkpolicies,leases";
  const left = await kubectl(lab, "get", kinds, "-A", "-o", "name");
  assert.deepEqual(left.split("\n").filter((name) => name.includes("archway")), []);
  assert.doesNotMatch(await kubectl(lab, "get", "crds,namespaces", "-o", "name"), /managed/);
}

async function assertOptions(lab: OpenLab, shell: PasteShell, kustomization: string): Promise<void> {
  const options = optionsOf(kustomization);
  assert.deepEqual(options.map((path) => path.split("/").at(-1)), [
    "upgrades-drain",
    "upgrades-monitoring",
    "upgrades-original-metrics",
  ]);
  await applyPage(shell, `${kustomization}${options.map((path) => `  - ${path}\n`).join("")}`);
  const there = await kubectl(lab, "get", "clusterroles,servicemonitors", "-A", "-o", "name");
  const wanted = [
    "upgrades-drain",
    "servicemonitor.monitoring.coreos.com/archway-upgrades",
    "managed-upgrade-operator-metrics",
  ];
  for (const name of wanted) assert.ok(there.includes(name), name);
  await rolledOut(lab, { namespace: UPGRADES, name: "archway-upgrades" });
}

/** Not by the wait of kubectl itself, which looks for one object after the other, five a second. */
async function assertRemoved(lab: OpenLab, shell: PasteShell, namespace: string): Promise<void> {
  const remove = "kubectl delete -k . --wait=false";
  await shell.paste(remove);
  await kubectl(lab, "wait", "--for=delete", `namespace/${namespace}`, "--timeout=120s");
  await waitUntil("all of it to be gone", async () => {
    await assertGone(lab).catch(async (left: unknown) => {
      // An API server does not go on with a definition whose status it wrote twice at once, until something else writes it.
      await shell.paste(`${remove} --ignore-not-found`);
      throw left;
    });
    return true;
  }, { deadlineMs: 60_000, intervalMs: 1_000 });
}

/** Applies a page's kustomization, asserts, and that the account of its service was refused nothing. */
async function assertWorks(
  lab: OpenLab,
  account: { readonly account: string; readonly namespace?: string },
  { apply, works }: { readonly apply: () => Promise<void>; readonly works: () => Promise<void> },
): Promise<void> {
  const before = await auditLength(lab);
  // The service CA and the network operator have them there before what mounts them.
  const pem = await keepCertificate(lab);
  await keepTrustedCa(lab, pem);
  await apply();
  await injectCa(lab, pem, "checks");
  await works();
  assert.deepEqual(await refusedSince(lab, before, account), []);
}

async function walkPages(t: Deno.TestContext, lab: OpenLab, shell: PasteShell): Promise<void> {
  const upgrades = kustomizationOf(await readPage("docs/upgrades.md"));
  const builds = kustomizationOf(await readPage("docs/image-builds.md"));
  await t.step("upgrades: Available, the webhook answers through its Service, a plan is Pending", async () => {
    await assertWorks(lab, { account: "archway-upgrades", namespace: UPGRADES }, {
      apply: () => applyPage(shell, upgrades),
      works: () => assertUpgrades(lab, shell),
    });
  });
  await t.step("with the components that its page leaves to choose", () => assertOptions(lab, shell, upgrades));
  await t.step("upgrades go with their manifests", () => assertRemoved(lab, shell, UPGRADES));
  await t.step("image builds: Available, the Service answers, a pool that is not there is named", async () => {
    await assertWorks(lab, { account: "archway-image-builds" }, {
      apply: () => applyPage(shell, builds),
      works: () => assertImageBuilds(lab),
    });
  });
  await t.step("image builds go with their manifests", () => assertRemoved(lab, shell, NAMESPACE));
}

Deno.test("node: upgrades and image builds install as their pages say, work within their rights, and go", {
  ignore: lacks("nodes") || lacks("go"),
}, async (t) => {
  await using lab = await openLab();
  const image = await ensureImage(lab);
  // The pages' kustomizations say nothing of nodes, and the entry point of the image does not run on the emulated one.
  await kubectl(lab, "cordon", "n2");
  {
    await using _openShift = await playOpenShift(lab);
    await using shell = await openPasteShell(lab);
    // What a release writes of an image that was built and pushed.
    const [, newName, newTag] = /^(.*):([^:/]+)$/.exec(image) ?? [];
    const component = { apiVersion: "kustomize.config.k8s.io/v1alpha1", kind: "Component" };
    const images = [{ name: "registry.example.com/archway", newName, newTag }];
    await shell.paste("mkdir -p dist/release");
    await shell.write("dist/release/kustomization.yaml", JSON.stringify({ ...component, images }));
    await walkPages(t, lab, shell);
  }
  await kubectl(lab, "uncordon", "n2");
});
