// The CRDs of manifests/base on a real API server: every schema row of the MTO's catalogue, and the small validator
// of tests/manifests held against the real one.
import assert from "node:assert/strict";
import fc from "fast-check";
import { findProblems, readDefinitions, readSchema } from "../manifests/support/openapi.ts";
import { CLUSTER_SELECTOR_BOUNDS, parseSelector } from "../../lib/vocabulary/label_selector.ts";
import {
  CLUSTER_SPEC,
  disturbed,
  NAMESPACE_SPEC,
  SCHEMA_BOUNDS,
  selectorsAround,
} from "../manifests/support/samples.ts";
import { expectStatus, isTrue, read } from "./support/cluster_access.ts";
import { bareControlPlane, type SharedControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const GROUP = "multiarch.openshift.io";
const PATHS = {
  ClusterPodPlacementConfig: `/apis/${GROUP}/v1beta1/clusterpodplacementconfigs`,
  PodPlacementConfig: `/apis/${GROUP}/v1beta1/namespaces/default/podplacementconfigs`,
  ENoExecEvent: `/apis/${GROUP}/v1beta1/namespaces/default/enoexecevents`,
} as const;

type Kind = keyof typeof PATHS;
const [CLUSTER, LOCAL] = ["ClusterPodPlacementConfig", "PodPlacementConfig"] as const;

/** No conversion webhook answers here. */
async function startWithDefinitions(): Promise<SharedControlPlane> {
  const cluster = await bareControlPlane();
  for (const definition of readDefinitions()) {
    await cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict", definition);
    await waitUntil(`${definition.metadata.name} to be established`, async () => {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
      return isTrue(await cluster.get(path), "Established");
    });
  }
  await waitUntil("the kinds to be served", async () => {
    return (await Promise.all(Object.values(PATHS).map(cluster.exists))).every(Boolean);
  });
  return cluster;
}

const body = (kind: Kind, spec: unknown, name = kind === CLUSTER ? "cluster" : "sample"): unknown => ({
  ...{ apiVersion: `${GROUP}/v1beta1`, kind, metadata: { name } },
  ...(spec === undefined ? {} : { spec }),
});

const scoring = (...platforms: readonly unknown[]): unknown => ({
  plugins: { nodeAffinityScoring: { enabled: true, platforms } },
});

const PLATFORM_ROWS: readonly (readonly [cluster: number, local: number, what: string, spec: unknown])[] = [
  [100, 130, "weight -100", scoring({ architecture: "amd64", weight: -100 })],
  [101, 131, "weight 0", scoring({ architecture: "amd64", weight: 0 })],
  [102, 132, "weight 200", scoring({ architecture: "amd64", weight: 200 })],
  [103, 133, "architecture Wrong, weight 200", scoring({ architecture: "Wrong", weight: 200 })],
  [104, 134, "no platforms", scoring()],
  [105, 135, "architecture empty", scoring({ architecture: "", weight: 5 })],
];

const FALLBACK_ROWS: readonly (readonly [row: number, value: string, accepted: boolean])[] = [
  [106, "amd64", true],
  [107, "arm64", true],
  [108, "ppc64le", true],
  [109, "s390x", true],
  [110, "", true],
  [111, "wrong", false],
  [112, " ", false],
  [113, "AMD64", false],
  [114, "arm32", false],
  [115, "@!$", false],
  [116, "a".repeat(100), false],
];

const ID = "a".repeat(64);
const long = (length: number): string => Array.from({ length }, (_, at) => at % 50 === 49 ? "." : "a").join("");

const STATUS_ROWS: readonly (readonly [row: number, member: string, value: string, accepted: boolean])[] = [
  [156, "nodeName", long(254), false],
  [157, "nodeName", "test!-node-name", false],
  [157, "nodeName", "test?node-name", false],
  [158, "nodeName", "-test-node-name", false],
  [158, "nodeName", "test-node-name-", false],
  [159, "nodeName", "test.node.name", true],
  [160, "podName", long(254), false],
  [161, "podName", "test!-pod-name", false],
  [161, "podName", "test-POD-name", false],
  [162, "podName", "valid.pod-name-26", true],
  [163, "podName", "-test-pod-name", false],
  [163, "podName", "test-pod-name.", false],
  [164, "podNamespace", long(75), false],
  [165, "podNamespace", "test@pod-name", false],
  [165, "podNamespace", "test-POD-name", false],
  [165, "podNamespace", "test.pod.name", false],
  [166, "podNamespace", "valid-pod-namespace-26", true],
  [167, "podNamespace", "-test-pod-name", false],
  [167, "podNamespace", "test-pod-name-", false],
  [168, "containerID", `docker://${ID}a`, false],
  [168, "containerID", `docker://${ID.slice(1)}`, false],
  [169, "containerID", `docker://${ID.slice(1)}-`, false],
  [169, "containerID", `docker://${ID.slice(1)}z`, false],
  [169, "containerID", `docker:/${ID}`, false],
  [152, "containerID", `docker://${ID}`, true],
];

Deno.test("the CRDs on a real API server: rows 100-116, 130-135, 152, 156-169", async (t) => {
  await using cluster = await startWithDefinitions();

  const probe = async (kind: Kind, spec: unknown, name?: string): Promise<"accepted" | "Invalid"> => {
    const answer = await cluster.request("POST", `${PATHS[kind]}?dryRun=All`, body(kind, spec, name));
    expectStatus("probe", answer, [201, 422]);
    assert.ok(answer.status === 201 || read(answer.body, "reason") === "Invalid");
    return answer.status === 201 ? "accepted" : "Invalid";
  };

  for (const [clusterRow, localRow, what, spec] of PLATFORM_ROWS) {
    await t.step(`${clusterRow} ClusterPodPlacementConfig with ${what} is Invalid`, async () => {
      assert.equal(await probe(CLUSTER, spec), "Invalid");
    });
    await t.step(`${localRow} PodPlacementConfig with ${what} is Invalid`, async () => {
      assert.equal(await probe(LOCAL, spec), "Invalid");
    });
  }

  await t.step("an unknown architecture alone is Invalid in either kind", async () => {
    const spec = scoring({ architecture: "Wrong", weight: 5 });
    assert.deepEqual([await probe(CLUSTER, spec), await probe(LOCAL, spec)], ["Invalid", "Invalid"]);
  });

  for (const [row, fallbackArchitecture, accepted] of FALLBACK_ROWS) {
    const verdict = accepted ? "accepted" : "Invalid";
    await t.step(`${row} fallbackArchitecture "${fallbackArchitecture.slice(0, 10)}" is ${verdict}`, async () => {
      assert.equal(await probe(CLUSTER, { fallbackArchitecture }), verdict);
    });
    await t.step(`${row} so it is in a PodPlacementConfig, where the field is ours`, async () => {
      assert.equal(await probe(LOCAL, { plugins: {}, fallbackArchitecture }), verdict);
    });
  }

  await t.step("a ClusterPodPlacementConfig of another name is Invalid", async () => {
    assert.equal(await probe(CLUSTER, {}, "other"), "Invalid");
  });

  await t.step("defaults are filled in where there is a spec, and only there", async () => {
    const stored = async (kind: Kind, spec: unknown): Promise<unknown> =>
      read((await cluster.request("POST", `${PATHS[kind]}?dryRun=All`, body(kind, spec))).body, "spec");
    assert.deepEqual(await stored(CLUSTER, {}), { logVerbosity: "Normal", fallbackArchitecture: "" });
    assert.equal(await stored(CLUSTER, undefined), undefined);
    assert.deepEqual(await stored(LOCAL, { plugins: {} }), { plugins: {}, priority: 0 });
  });

  await t.step("a PodPlacementConfig needs a spec with plugins, and a priority of 0 to 255", async () => {
    const specs = [undefined, {}, ...[0, 255, 256, -1].map((priority) => ({ plugins: {}, priority }))];
    const verdicts = await Promise.all(specs.map((spec) => probe(LOCAL, spec)));
    assert.deepEqual(verdicts, ["Invalid", "Invalid", "accepted", "accepted", "Invalid", "Invalid"]);
  });

  const around = [
    [LOCAL, SCHEMA_BOUNDS, (labelSelector: unknown) => ({ plugins: {}, labelSelector })],
    [CLUSTER, CLUSTER_SELECTOR_BOUNDS, (namespaceSelector: unknown) => ({ namespaceSelector })],
  ] as const;
  for (const [kind, bounds, specOf] of around) {
    await t.step(`the selector of a ${kind} is Invalid beyond its bounds`, async () => {
      const { within, beyond } = selectorsAround(bounds);
      assert.equal(await probe(kind, specOf(within)), "accepted");
      for (const [tooMany, selector] of beyond) {
        assert.equal(await probe(kind, specOf(selector)), "Invalid", tooMany);
      }
    });
  }

  await t.step("a PodPlacementConfig from before the bounds is still read, and can be deleted", async () => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podplacementconfigs.${GROUP}`;
    const bound = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/labelSelector/properties" +
      "/matchExpressions/items/properties/values/maxItems";
    const values = Array.from({ length: 64 }, (_, at) => `w${at}`);
    const labelSelector = { matchExpressions: [{ key: "a", operator: "NotIn", values }] };
    const large = body(LOCAL, { plugins: {}, labelSelector }, "large");
    await cluster.patch(path, [{ op: "remove", path: bound }]);
    await waitUntil("the large config to be taken", () => cluster.create(PATHS.PodPlacementConfig, large));
    await cluster.patch(path, [{ op: "add", path: bound, value: SCHEMA_BOUNDS.values }]);
    const again = { plugins: {}, labelSelector };
    await waitUntil("the bound to hold", async () => await probe(LOCAL, again, "again") === "Invalid");
    const stored = await cluster.get(`${PATHS.PodPlacementConfig}/large`);
    assert.equal(parseSelector(read(stored, "spec", "labelSelector")).kind, "requirements");
    await cluster.delete(`${PATHS.PodPlacementConfig}/large`);
  });

  for (const [row, member, value, accepted] of STATUS_ROWS) {
    await t.step(
      `${row} ENoExecEvent ${member} "${value.slice(0, 40)}" is ${accepted ? "accepted" : "Invalid"}`,
      async () => {
        expectStatus("create", await cluster.request("POST", PATHS.ENoExecEvent, body("ENoExecEvent", {})), [201, 409]);
        const status = { status: { [member]: value } };
        const answer = await cluster.request("PATCH", `${PATHS.ENoExecEvent}/sample/status?dryRun=All`, status);
        assert.equal(answer.status, accepted ? 200 : 422);
      },
    );
  }

  await t.step("printer columns show the conditions", async () => {
    await cluster.create(PATHS[CLUSTER], body(CLUSTER, {}));
    const lastTransitionTime = "2026-11-21T08:00:00Z";
    const conditions = ["Available", "Progressing", "Degraded"].map((type) => ({
      ...{ type, status: type === "Available" ? "True" : "False", reason: "AllComponentsReady" },
      ...{ message: "text", lastTransitionTime, observedGeneration: 1 },
    }));
    const path = `${PATHS.ClusterPodPlacementConfig}/cluster`;
    await cluster.patch(`${path}/status`, { status: { conditions } });
    const { stdout } = await cluster.kubectl(["get", "cppc"]);
    assert.match(
      stdout,
      /NAME +AVAILABLE +PROGRESSING +DEGRADED +SINCE +STATUS\ncluster +True +False +False +\S+ +AllComponentsReady/,
    );
    const wrong = { status: { conditions: [{ ...conditions[0], reason: "not a word" }] } };
    assert.equal((await cluster.request("PATCH", `${path}/status`, wrong)).status, 422);
    await cluster.delete(path);
  });

  for (const [kind, arbitrary] of [[CLUSTER, CLUSTER_SPEC], [LOCAL, NAMESPACE_SPEC]] as const) {
    await t.step(`${kind}: the validator of the unit tests reports what the API server answers`, async () => {
      const schema = readSchema(kind, "v1beta1");
      await fc.assert(
        fc.asyncProperty(fc.oneof(arbitrary, disturbed(arbitrary)), async (spec) => {
          const problems = findProblems(schema, body(kind, spec));
          assert.equal(await probe(kind, spec), problems.length === 0 ? "accepted" : "Invalid", problems.join());
        }),
        { numRuns: 150 },
      );
    });
  }
});
