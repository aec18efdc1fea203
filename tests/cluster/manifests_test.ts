// The manifests on a real API server: every overlay and component is accepted, base is installed as README says, and the
// ServiceAccount may do nothing that it must not. What it must is in tests/long/rights_test.ts.
import assert from "node:assert/strict";
import { MANIFESTS, renderComposition } from "../../manifests/generate/kustomize.ts";
import { defineKinds } from "../node/support/foreign_apis.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { CHECKS } from "./support/objects.ts";
import { isAllowed } from "./support/rights.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const OVERLAYS = ["vanilla", "cert-manager", "openshift", "gke", "monitoring"];
const COMPONENTS = [
  "daemonsets-warn",
  "least-privilege",
  "live-architectures",
  "migration",
  "no-pull-secrets",
  "node-registry-config",
  "prewarm",
  "registry-ca",
].map((name) => `components/${name}`);

Deno.test("manifests on a real API server", async (t) => {
  await using cluster = await bareControlPlane();
  // Their schemas are not ours to check.
  await defineKinds(cluster, ["ServiceMonitor", "PrometheusRule", "Certificate", "Issuer"]);
  await cluster.addNodes(["amd64", "arm64"].map((arch) => ({ name: `${arch}-1`, arch })));

  const kubectl = async (args: readonly string[], stdin?: string): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(args, stdin === undefined ? {} : { stdin });
    assert.equal(code, 0, stderr);
    // Warnings are about Pod Security, deprecated versions and unknown fields: there are none, but for a namespace that was not
    // made by apply.
    assert.doesNotMatch(stderr.replaceAll(/^Warning: resource namespaces\/.*$/gm, ""), /Warning/);
    return stdout;
  };
  const dryRun = ["apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict", "-f", "-"];

  // A dry run stores no Namespace, and what lies in one is refused without it.
  await cluster.create("/api/v1/namespaces", { metadata: { name: "archway-system" } });

  for (const overlay of OVERLAYS) {
    await t.step(`overlay ${overlay} is accepted`, async () => {
      const text = await kubectl(["kustomize", `${MANIFESTS}/overlays/${overlay}`]);
      await kubectl(dryRun, text);
    });
  }

  for (const component of COMPONENTS) {
    await t.step(`base with ${component} is accepted`, async () => {
      const objects = await renderComposition("base", [component]);
      await kubectl(dryRun, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    });
  }

  await t.step("kubectl apply -k manifests/base installs it, without a warning", async () => {
    await kubectl(["apply", "-k", `${MANIFESTS}/base`]);
    await waitUntil("both replicas to run on nodes of the image's architectures", async () => {
      const pods = await cluster.list("/api/v1/namespaces/archway-system/pods");
      return pods.length === 2 && pods.every((pod) => read(pod, "status", "phase") === "Running");
    });
  });

  await t.step("the replicas are on two nodes, also after roll-outs and when one was deleted", async () => {
    const names = async (): Promise<readonly unknown[]> => {
      await kubectl(["rollout", "status", "-n", "archway-system", "deployment/archway", "--timeout=60s"]);
      const staying = await waitUntil("two replicas to be bound", async () => {
        const pods = await cluster.list("/api/v1/namespaces/archway-system/pods");
        const staying = pods.filter((pod) => read(pod, "metadata", "deletionTimestamp") === undefined);
        return staying.length === 2 && staying.every((pod) => read(pod, "spec", "nodeName") !== undefined) && staying;
      });
      assert.deepEqual(staying.map((pod) => read(pod, "spec", "nodeName")).toSorted(), ["amd64-1", "arm64-1"]);
      return staying.map((pod) => read(pod, "metadata", "name"));
    };
    const [first] = await names();
    await kubectl(["delete", "pod", "-n", "archway-system", String(first), "--wait=false"]);
    await names();
    for (let rollout = 0; rollout < 3; rollout++) {
      // Not `rollout restart`, which refuses a second one within a second.
      const patch = { spec: { template: { metadata: { annotations: { rollout: String(rollout) } } } } };
      await kubectl(["patch", "-n", "archway-system", "deployment/archway", "-p", JSON.stringify(patch)]);
      await names();
    }
  });

  await t.step("applying it again changes nothing, and leaves CA bundles of the service alone", async () => {
    // Any certificate will do: the API server wants it to be PEM.
    const patch = [0, 1].map((at) => ({
      ...{ op: "add", path: `/webhooks/${at}/clientConfig/caBundle` },
      value: btoa(cluster.caPem),
    }));
    await cluster.patch(CHECKS, patch);
    const generations = async (): Promise<readonly unknown[]> => {
      const { items } = JSON.parse(await kubectl(["get", "-k", `${MANIFESTS}/base`, "-o", "json"]));
      return listAt(items).map((item) =>
        [["kind"], ["metadata", "name"], ["metadata", "generation"]].map((path) => read(item, ...path))
      );
    };
    const before = await generations();
    assert.ok(before.length > 0);
    await kubectl(["apply", "-k", `${MANIFESTS}/base`]);
    assert.deepEqual(await generations(), before);
    const bundles = listAt(await cluster.get(CHECKS), "webhooks").map((one) => read(one, "clientConfig", "caBundle"));
    assert.deepEqual(bundles, [btoa(cluster.caPem), btoa(cluster.caPem)]);
  });

  const account = { user: "system:serviceaccount:archway-system:archway" };

  const REFUSED: readonly (readonly [verbs: string, resource: string, name: string, namespace?: string])[] = [
    ["create update delete", "pods", "any", "any"],
    ["create", "pods/exec", "any", "any"],
    ["list watch", "secrets", "", "any"],
    ["update delete patch", "secrets", "any", "any"],
    ["update delete patch", "secrets", "another", "archway-system"],
    ["create", "secrets", "", "any"],
    ["watch patch get", "nodes", "any"],
    ["patch", "namespaces", "any"],
    ["list", "deployments.apps", "", "any"],
    ["create get update patch delete", "mutatingwebhookconfigurations.admissionregistration.k8s.io", "another"],
    ["patch create delete", "validatingwebhookconfigurations.admissionregistration.k8s.io", "another"],
    ["patch", "customresourcedefinitions.apiextensions.k8s.io", "another"],
    ["update patch", "leases.coordination.k8s.io", "another", "archway-system"],
    ["create", "serviceaccounts/token", "archway", "archway-system"],
    ["create", "clusterrolebindings.rbac.authorization.k8s.io", ""],
    ["impersonate", "users", "admin"],
  ];
  for (const [verbs, resource, name, namespace] of REFUSED) {
    const where = `${resource} "${name}"${namespace === undefined ? "" : ` in ${namespace}`}`;
    await t.step(`the ServiceAccount may not ${verbs} ${where}`, async () => {
      for (const verb of verbs.split(" ")) {
        assert.equal(await isAllowed(cluster, account, { verb, resource, name, namespace }), false, verb);
      }
    });
  }
});
