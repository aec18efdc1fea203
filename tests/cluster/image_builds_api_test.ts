import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { type ApiAnswer, type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import {
  applyDefinitions,
  type OpenShiftKind,
  readDefinition,
  readSuite,
  type SuiteCase,
} from "./support/openshift_crds.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const GROUP = "/apis/machineconfiguration.openshift.io/v1";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ignore = lacks("go");

type Suite = "machineosconfigs" | "machineosbuilds";

/** The rows of the catalogue that a case of a suite stands for, by its words. */
const ROWS: Readonly<Record<string, string>> = {
  "Should be able to create a minimal MachineOSConfig": "O-001",
  "Should be able to create a MachineOSConfig with a renderedImagePushSpec that contains a port": "O-002",
  "Fail on invalid rendered image push spec": "O-003",
  "Allows for an empty pull secret": "O-004",
  "Should succeed when MachineOSConfig name matches MachineConfigPool name": "O-005",
  "Should fail when MachineOSConfig name does not match MachineConfigPool name": "O-005",
  "Should allow changing other fields when a persisted value is no longer valid (mismatched names)": "O-006",
  "Should allow updating a persisted value that is no longer valid to a valid value (fix mismatched names)": "O-008",
  "Should not allow updating a persisted value that is no longer valid to a still invalid value (different mismatched MCP names)":
    "O-007",
  "Should be able to create a minimal MachineOSBuild": "O-009",
  "Job imagebuilder type must have job reference": "O-010",
  "Successfully set buildEnd": "O-011",
  "Fail on invalid buildEnd time": "O-011",
  "Should be able to set a condition": "O-012",
  "Failed builds cannot change status": "O-013",
  "Interrupted builds cannot change status": "O-014",
};

Deno.test(
  "image builds API: the upstream suites of MachineOSConfig and MachineOSBuild hold (O-001 O-002 O-003 O-004 O-005 O-006 O-007 O-008 O-009 O-010 O-011 O-012 O-013 O-014 O-015 P-032 P-068)",
  { ignore },
  async (t) => {
    await using cluster = await bareControlPlane();
    await applyDefinitions(cluster, ["machineosconfigs", "machineosbuilds"]);
    for (const kind of ["machineosconfigs", "machineosbuilds"] as const) {
      const cases = await readSuite(kind);
      assert.ok(cases.length >= 7, `${kind}: ${cases.length} cases`);
      for (const one of cases) {
        const row = ROWS[one.name];
        const claim = row === undefined ? "" : ` (${row})`;
        await t.step(`an upstream case of ${kind}: ${one.name}${claim}`, () => runCase(cluster, kind, one));
      }
    }
    await t.step("a builder of another type is refused (O-015)", async () => {
      const object = mosc("worker", { imageBuilder: { imageBuilderType: "Pod" } });
      const { status, body } = await cluster.request("POST", `${GROUP}/machineosconfigs`, object);
      assert.equal(status, 422);
      assert.match(String(read(body, "message")), /Unsupported value: "Pod": supported values: "Job"/);
    });
    await t.step("four entries are taken, a fifth is refused (P-032)", () => limitsContainerFiles(cluster));
    await t.step("related objects: Jobs are taken, the core group is not (P-068)", () => judgesRelated(cluster));
  },
);

async function runCase(cluster: ClusterAccess, kind: Suite, one: SuiteCase): Promise<void> {
  const path = `${GROUP}/${kind}`;
  const name = String(read(one.initial, "metadata", "name") ?? "");
  try {
    if (one.definitionPatches.length > 0) await patchDefinition(cluster, kind, one.definitionPatches);
    const created = await cluster.request("POST", path, one.initial);
    if (one.updated === undefined) return judge(one, created);
    expectStatus(`create "${name}"`, created, [201]);
    const initialStatus = read(one.initial, "status");
    if (initialStatus !== undefined) {
      expectStatus("write the status", await putStatus(cluster, `${path}/${name}`, initialStatus), [200]);
    }
    if (one.definitionPatches.length > 0) await restoreDefinition(cluster, kind);
    await update(cluster, `${path}/${name}`, one);
  } finally {
    if (one.definitionPatches.length > 0) await restoreDefinition(cluster, kind);
    await cluster.request("DELETE", path);
    await waitUntil("an empty collection", async () => {
      const items = read(await cluster.get(path), "items");
      return Array.isArray(items) && items.length === 0;
    });
  }
}

function judge(one: SuiteCase, answer: ApiAnswer): void {
  if (one.expectedError === undefined) {
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(read(answer.body, "spec"), read(one.expected, "spec"));
  } else assertRefused(answer, one.expectedError);
}

/** Newer API servers print the value where older ones printed its type. */
function assertRefused({ status, body }: ApiAnswer, error: string): void {
  const message = String(read(body, "message"));
  assert.equal(status, 422, JSON.stringify(body));
  assert.ok(message.includes(error.replace(/^.*Invalid value: "(?:string|object|array)": /, "")), message);
}

async function update(cluster: ClusterAccess, path: string, one: SuiteCase): Promise<void> {
  const current = await cluster.get(path);
  const resourceVersion = read(current, "metadata", "resourceVersion");
  const name = read(current, "metadata", "name");
  const next = {
    ...Object(one.updated),
    metadata: { ...Object(read(one.updated, "metadata")), name, resourceVersion },
  };
  const answer = await cluster.request("PUT", path, next);
  if (one.expectedError !== undefined) return assertRefused(answer, one.expectedError);
  expectStatus("update", answer, [200]);
  const status = read(one.updated, "status");
  if (status === undefined) return assert.deepEqual(read(answer.body, "spec"), read(one.expected, "spec"));
  const written = await putStatus(cluster, path, status);
  if (one.expectedStatusError !== undefined) return assertRefused(written, one.expectedStatusError);
  expectStatus("write the status", written, [200]);
  assert.deepEqual(read(written.body, "status"), read(one.expected, "status"));
}

async function putStatus(cluster: ClusterAccess, path: string, status: unknown): Promise<ApiAnswer> {
  return await cluster.request("PUT", `${path}/status`, { ...Object(await cluster.get(path)), status });
}

async function patchDefinition(cluster: ClusterAccess, kind: Suite, operations: readonly unknown[]): Promise<void> {
  await cluster.patch(`${DEFINITIONS}/${kind}.machineconfiguration.openshift.io`, operations);
  // The other version of the schema is in force when it accepts what the real one refuses.
  await untilProbed(cluster, kind, 201);
}

async function restoreDefinition(cluster: ClusterAccess, kind: OpenShiftKind): Promise<void> {
  const spec = read(await readDefinition(kind), "spec");
  await cluster.patch(`${DEFINITIONS}/${kind}.machineconfiguration.openshift.io`, { spec });
  await untilProbed(cluster, kind, 422);
}

async function untilProbed(cluster: ClusterAccess, kind: OpenShiftKind, status: 201 | 422): Promise<void> {
  const probe = mosc("probe", { machineConfigPool: { name: "other" } });
  await waitUntil(`the definition, by ${status}`, async () => {
    return (await cluster.request("POST", `${GROUP}/${kind}?dryRun=All`, probe)).status === status;
  });
}

function mosc(name: string, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineOSConfig",
    metadata: { name },
    spec: {
      machineConfigPool: { name },
      imageBuilder: { imageBuilderType: "Job" },
      renderedImagePushSecret: { name: "push" },
      renderedImagePushSpec: "registry.example.com/team/os:latest",
      ...more,
    },
  };
}

async function limitsContainerFiles(cluster: ClusterAccess): Promise<void> {
  const entry = (containerfileArch: string): unknown => ({ containerfileArch, content: "FROM configs AS final" });
  const four = ["AMD64", "ARM64", "PPC64LE", "S390X"].map(entry);
  const create = async (containerFile: readonly unknown[]): Promise<number> =>
    (await cluster.request("POST", `${GROUP}/machineosconfigs?dryRun=All`, mosc("worker", { containerFile }))).status;
  assert.deepEqual([await create(four), await create([entry("NoArch"), ...four])], [201, 422]);
}

async function judgesRelated(cluster: ClusterAccess): Promise<void> {
  const build = {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineOSBuild",
    metadata: { name: "worker-1" },
    spec: {
      machineConfig: { name: "rendered-worker-1" },
      machineOSConfig: { name: "worker" },
      renderedImagePushSpec: "registry.example.com/team/os:worker-1",
    },
  };
  await cluster.create(`${GROUP}/machineosbuilds`, build);
  const related = async (group: string, resource: string): Promise<number> => {
    const one = { group, resource, name: "one", namespace: "openshift-machine-config-operator" };
    const status = { relatedObjects: [one] };
    return (await cluster.request("PATCH", `${GROUP}/machineosbuilds/worker-1/status`, { status })).status;
  };
  assert.deepEqual([await related("batch", "jobs"), await related("", "configmaps")], [200, 422]);
}
