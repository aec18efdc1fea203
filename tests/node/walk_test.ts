// The walks of tests/support/walk on real nodes: what becomes of each pod, that its containers run where their images can, and that
// the kubelet cannot pull what Archway could not inspect.
import assert from "node:assert/strict";
import { listAtPath, textAtPath } from "../../playground/json_path.ts";
import type { KubeObject } from "../../lib/k8s/types.ts";
import { API_GROUP } from "../../lib/names.ts";
import { pullSecret } from "../support/walk/registries.ts";
import { scoring } from "../support/walk/preference_rows.ts";
import type { WalkSubject } from "../support/walk/subject.ts";
import { runWalk, WALKS } from "../support/walk/walks.ts";
import { lacks } from "../support/needs.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { openWalkNodes } from "./support/walk_nodes.ts";

const SETTING = { spec: { plugins: scoring(true, ["amd64", 50]) }, namespaces: { walk: {} } };

/** Creates a Deployment of the private image; gives its pod once it is decided. */
async function decidedPod(walk: WalkSubject, name: string): Promise<KubeObject> {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "owner", uid: "u", controller: true }];
  const spec = { containers: [{ name: "app", image: `${walk.host}/global/hello:rp` }] };
  await walk.create("Pod", { metadata: { name, ownerReferences }, spec }, "walk");
  await walk.until("it is decided", async () => await walk.decided("walk", name) !== undefined);
  return await walk.decided("walk", name) ?? assert.fail(name);
}

function requiredOf(pod: KubeObject): readonly unknown[] {
  const terms = ["requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
  return listAtPath(pod, "spec", "affinity", "nodeAffinity", ...terms, 0, "matchExpressions", 0, "values");
}

async function assertCredentialGoes(lab: OpenLab, walk: WalkSubject): Promise<void> {
  assert.deepEqual(requiredOf(await decidedPod(walk, "before")), ["arm64", "ppc64le"]);
  await walk.assertFate?.({ namespace: "walk", name: "before" }, { kind: "runs", on: ["arm64"] });
  const path = "/api/v1/namespaces/openshift-config/secrets/pull-secret";
  const { data } = pullSecret("pull-secret", ["other.example"]);
  assert.equal((await lab.request("PATCH", path, { data })).status, 200);
  let attempts = 0;
  let pod: KubeObject;
  do pod = await decidedPod(walk, `after-${attempts}`); while (requiredOf(pod).length > 0 && ++attempts < 20);
  const label = (name: string): string | undefined => textAtPath(pod, "metadata", "labels", `${API_GROUP}/${name}`);
  assert.deepEqual(requiredOf(pod), []);
  assert.deepEqual(["node-affinity", "preferred-node-affinity"].map(label), ["not-set", "set"]);
}

Deno.test("node: every walk of the playground ends as there, and its containers run", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  {
    await using nodes = await openWalkNodes(lab);
    for (const walk of WALKS) {
      await t.step(walk.name, async (step) => {
        const subject = await nodes.begin(walk.setting, walk.prepare);
        await runWalk(step, subject, walk);
      });
    }
    await t.step(
      "E-24 a credential that left the global pull secret is no longer used, at the latest for the twentieth pod after",
      async () => {
        await assertCredentialGoes(lab, await nodes.begin(SETTING));
      },
    );
    await uninstall(lab);
  }
  await assertNothingLeft(lab);
});
