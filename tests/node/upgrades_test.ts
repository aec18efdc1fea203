// Upgrades on real nodes: the component installed beside the base, its Deployment run by a kubelet, its webhook called by the API
// server. What an upgrade then does is played on control planes: no node here is OpenShift's.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { applyDefinitions, type OpenShiftKind, readDefinition } from "../cluster/support/openshift_crds.ts";
import { planOf } from "../cluster/support/upgrade_bed.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { install, kubectl, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { auditLength, refusedSince } from "./support/refusals.ts";

const COMPONENTS = ["upgrades"];
const NAME = "archway-upgrades";
const { namespace: NAMESPACE } = Upgrades;
/** Namespaces of OpenShift with the roles that are needed there, by the end of their names. */
const OTHERS = [["openshift-machine-api", "machines"], ["openshift-monitoring", "monitoring"], [
  "openshift-config",
  "pull-secret",
]] as const;
/** What the service watches, and the cluster must have. */
const KINDS: readonly OpenShiftKind[] = ["clusterversions", "machineconfigpools", "machinesets"];

/** What an OpenShift cluster has and this one lacks. */
async function openCluster(lab: OpenLab): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  undo.defer(() => closeCluster(lab));
  await applyDefinitions(lab, KINDS);
  for (const [name] of OTHERS) await kubectl(lab, "create", "namespace", name);
  return undo.move();
}

async function closeCluster(lab: OpenLab): Promise<void> {
  const namespaces = OTHERS.map(([name]) => name);
  await lab.kubectl(["delete", "namespaces", ...namespaces, "--ignore-not-found", "--timeout=60s"]);
  const names = (await Promise.all(KINDS.map(readDefinition))).map((each) => String(read(each, "metadata", "name")));
  await lab.kubectl(["delete", "customresourcedefinitions", ...names, "--ignore-not-found", "--timeout=60s"]);
}

async function installUpgrades(lab: OpenLab): Promise<void> {
  await install(lab, { components: COMPONENTS, deployments: [NAME] });
  await kubectl(lab, "-n", NAMESPACE, "wait", "--for=condition=Available", `deployment/${NAME}`, "--timeout=120s");
}

/** Names of what is there of some kinds, `role.rbac.authorization.k8s.io/x`, in a namespace or in none. */
async function namesOf(lab: OpenLab, kinds: string, namespace: string = NAMESPACE): Promise<readonly string[]> {
  return (await kubectl(lab, "-n", namespace, "get", kinds, "-o", "name")).split("\n").filter((name) =>
    name.includes(`/${NAME}`)
  ).map((name) => name.replace(/\..*\//, "/")).sort();
}

/** Applies a plan, once the API server has the CA of the webhook; gives what is said against it. */
async function applyPlan(lab: OpenLab, spec: Readonly<Record<string, unknown>>): Promise<string> {
  const stdin = JSON.stringify(planOf(spec));
  return await waitUntil("the webhook of plans to answer", async () => {
    const { code, stderr } = await lab.kubectl(["-n", NAMESPACE, "apply", "-f", "-"], { stdin });
    const isAnswered = code === 0 || stderr.includes("denied the request");
    return isAnswered && { said: stderr };
  }, { deadlineMs: 60_000, intervalMs: 1_000 }).then(({ said }) => said);
}

Deno.test("M-390 node: upgrades are installed: their namespace, an available Deployment, their roles and bindings", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const before = await auditLength(lab);
  await using _cluster = await openCluster(lab);
  await installUpgrades(lab);

  await t.step("roles and bindings are where the rights are needed", async () => {
    const both = (name: string): readonly string[] => [`role/${name}`, `rolebinding/${name}`];
    assert.deepEqual(await namesOf(lab, "roles,rolebindings"), both(NAME));
    for (const [namespace, end] of OTHERS) {
      assert.deepEqual(await namesOf(lab, "roles,rolebindings", namespace), both(`${NAME}-${end}`));
    }
    assert.deepEqual(await namesOf(lab, "clusterroles,clusterrolebindings"), [
      `clusterrole/${NAME}`,
      `clusterrolebinding/${NAME}`,
    ]);
  });

  await t.step("it leads, and its webhook refuses a plan that can never be carried out", async () => {
    await waitUntil("the Lease to be held", async () => {
      const { stdout } = await lab.kubectl(["-n", NAMESPACE, "get", "lease", Upgrades.lease, "-o", "yaml"]);
      return stdout.includes(`holderIdentity: ${NAME}-`);
    }, { deadlineMs: 60_000 });
    const said = await applyPlan(lab, { capacity: { enabled: true, pools: ["[a"] } });
    assert.match(said, /spec\.capacity\.pools: "\[a" is not a valid pattern/);
  });

  await t.step("a plan that it has nothing against is stored", async () => {
    assert.equal(await applyPlan(lab, { suspend: true, drain: { mode: "Observe" } }), "");
    await kubectl(lab, "-n", NAMESPACE, "get", "upgradeconfig", Upgrades.config);
    await kubectl(lab, "-n", NAMESPACE, "delete", "upgradeconfig", Upgrades.config);
  });

  await t.step("nothing was refused, and nothing is left", async () => {
    assert.deepEqual(await refusedSince(lab, before, { namespace: NAMESPACE, account: NAME }), []);
    await uninstall(lab, { components: COMPONENTS });
    await assertNothingLeft(lab);
    assert.deepEqual((await lab.kubectl(["get", "namespace", NAMESPACE])).code, 1);
  });
});
