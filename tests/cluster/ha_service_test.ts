// As in a cluster: the API server reaches the webhooks through the Service of the manifests, with certificates that the service
// makes itself, and the endpoints follow a replica's end late, as they do. A rolling update has no effect on pods.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { renderFolder } from "../../manifests/generate/kustomize.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { readAuditLog } from "./support/audit_log.ts";
import { read } from "./support/cluster_access.ts";
import { untilAllGate } from "./support/lease.ts";
import { CONFIG, POD_WEBHOOK } from "./support/objects.ts";
import { failedWebhookCalls, startPodLoad } from "./support/pod_load.ts";
import { isReleased, listPods } from "./support/pods.ts";
import {
  applyBehindService,
  enableBehindService,
  NAMESPACE,
  ServiceReplica,
  untilGated,
} from "./support/service_bed.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const ignore = lacks("address");

Deno.test(
  "ha: behind its Service, with its own certificates: a rolling update under load fails no call and misses no pod",
  { ignore },
  async () => {
    await using cluster = await bareControlPlane();
    await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
    await applyBehindService(cluster, { objects: await renderFolder("base"), pods: "none" });
    const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
    const args = ["--max-gate-age=600s"];
    await using first = new ServiceReplica(cluster, { name: "first", kubeconfig, args });
    await using second = new ServiceReplica(cluster, { name: "second", kubeconfig, args });
    await first.start();
    await second.start();
    await enableBehindService(cluster);

    const client = read(await cluster.get(POD_WEBHOOK), "webhooks", "0", "clientConfig");
    const service = { namespace: NAMESPACE, name: "archway-webhook", path: "/add-pod-scheduling-gate", port: 443 };
    assert.deepEqual(read(client, "service"), service);
    assert.match(atob(String(read(client, "caBundle"))), /BEGIN CERTIFICATE/);
    const converted = await cluster.request("GET", CONFIG.replace("v1beta1", "v1alpha1"));
    assert.equal(read(converted.body, "apiVersion"), "multiarch.openshift.io/v1alpha1", JSON.stringify(converted));

    await untilAllGate([first, second]);
    const namespace = await cluster.createNamespace("service");
    const images = ["registry.invalid/team/app:1"];
    await untilGated(cluster);
    const before = await failedWebhookCalls(cluster);
    const load = startPodLoad(cluster, namespace, { images });
    for (const replica of [first, second]) {
      const created = load.created();
      await waitUntil("some load before the end", () => load.created() >= created + 20);
      assert.equal(await replica.stop(), 0);
      const ended = load.created();
      await waitUntil("some load without it", () => load.created() >= ended + 20);
      await replica.start();
    }
    const { created, failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.equal(await failedWebhookCalls(cluster) - before, 0);
    const pods = await listPods(cluster, namespace);
    assert.equal(pods.length, created);
    const missed = pods.filter((pod) => isReleased(pod) || pod.labels[SCHEDULING_GATE] !== "gated");
    assert.deepEqual(missed.map(({ name }) => name), []);

    const requests = await readAuditLog(cluster.auditLogFile ?? assert.fail("no audit log"));
    const ofRollout = requests.filter(({ resource, name, user }) =>
      resource === "deployments" && name === "archway" && user.endsWith(`:${NAMESPACE}:archway`)
    );
    assert.ok(ofRollout.some(({ status }) => status === 200), "the roll-out of its own Deployment is followed");
    assert.deepEqual(ofRollout.filter(({ status }) => status === 403), []);
  },
);
