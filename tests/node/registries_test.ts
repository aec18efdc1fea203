// Registries as users have them: for each, what docs/registries.md says is set, and nothing else; then containers run.
import assert from "node:assert/strict";
import { createPullSecret } from "../cluster/support/pods.ts";
import type { RealRegistry, RegistryOptions } from "../cluster/support/registry.ts";
import { expectStatus } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { configure, ensureImage, install, kubectl, NAMESPACE, ON_NATIVE_NODES, uninstall } from "./support/install.ts";
import { mirrorOnNodes, openNodeRegistry, renderRegistriesConf, trustOnNodes } from "./support/node_registries.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";

/** A registry on the nodes' network that holds t/arm-single:v1 for arm64 alone, and that the nodes' own runtimes can use. */
function openRegistry(lab: OpenLab, options: RegistryOptions): Promise<RealRegistry> {
  return openNodeRegistry(lab, { ...options, images: ["arm-single"] });
}

/** An address of Services that nothing else takes. */
const CLUSTER_IP = "10.96.0.200";

/** Puts a Service in front of a registry, so that it is reached as one that runs inside of the cluster. */
async function exposeInCluster(lab: OpenLab, { host }: RealRegistry): Promise<string> {
  const namespace = await lab.createNamespace("registry");
  const url = new URL(`http://${host}`);
  const port = Number(url.port);
  const metadata = { name: "registry", labels: { "kubernetes.io/service-name": "registry" } };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: CLUSTER_IP, ports: [{ name: "http", port: 5000, targetPort: port }] },
  };
  const slice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata,
    addressType: "IPv4",
    endpoints: [{ addresses: [url.hostname] }],
    ports: [{ name: "http", port }],
  };
  const made = await lab.request("POST", `/api/v1/namespaces/${namespace}/services`, service);
  expectStatus("create the Service", made, [201]);
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  expectStatus("create its EndpointSlice", await lab.request("POST", slices, slice), [201]);
  const name = `${CLUSTER_IP}:5000`;
  await trustOnNodes(lab, name, `server = "http://${name}"\n`);
  return name;
}

/** Runs a pod of the registry's image, which only an arm64 node can run, and gives what it printed. */
async function runPod(
  lab: OpenLab,
  namespace: string,
  pod: { readonly image: string; readonly spec?: object },
): Promise<string> {
  const name = `pod-${crypto.randomUUID().slice(0, 8)}`;
  await lab.createPod(namespace, {
    name,
    spec: {
      restartPolicy: "Never",
      dnsPolicy: "Default",
      containers: [{ name: "app", image: pod.image, args: ["hello"] }],
      ...pod.spec,
    },
  });
  return await lab.logOfEnded(namespace, name);
}

const FROM_ARM = "hello from linux/arm64\n";

Deno.test(
  "node: pods run from registries with a private CA, a certificate of their own, pull secrets, plain HTTP, a Service and a mirror",
  {
    ignore: lacks("nodes"),
  },
  async (t) => {
    await using lab = await openLab();
    const image = await ensureImage(lab);
    const patch = ON_NATIVE_NODES;
    await kubectl(lab, "create", "namespace", NAMESPACE);

    for (const certificate of ["issued", "self-signed"] as const) {
      await t.step(`TLS, ${certificate}: the ConfigMap archway-registry-ca and the component registry-ca`, async () => {
        await using registry = await openRegistry(lab, {});
        if (certificate === "self-signed") await registry.serveSelfSigned();
        const fromFile = `--from-file=ca.crt=${registry.caFile}`;
        await kubectl(lab, "-n", NAMESPACE, "delete", "configmap", "archway-registry-ca", "--ignore-not-found");
        await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registry-ca", fromFile);
        await install(lab, { image, patch, components: ["registry-ca"] });
        await kubectl(lab, "-n", NAMESPACE, "rollout", "restart", "deployment/archway");
        await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
        await configure(lab);
        const namespace = await lab.createNamespace("tls");
        assert.equal(await runPod(lab, namespace, { image: `${registry.host}/t/arm-single:v1` }), FROM_ARM);
      });
    }

    await t.step("plain HTTP: --insecure-registry by the environment", async () => {
      await using registry = await openRegistry(lab, { tls: false });
      await install(lab, { image, patch });
      const variable = `ARCHWAY_INSECURE_REGISTRY=${registry.host}`;
      await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", variable);
      await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
      const namespace = await lab.createNamespace("plain");
      assert.equal(await runPod(lab, namespace, { image: `${registry.host}/t/arm-single:v1` }), FROM_ARM);
    });

    await t.step("a login: imagePullSecrets of the pod, and of its ServiceAccount", async () => {
      await using registry = await openRegistry(lab, { tls: false, auth: "htpasswd" });
      const variable = `ARCHWAY_INSECURE_REGISTRY=${registry.host}`;
      await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", variable);
      await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
      const namespace = await lab.createNamespace("login");
      const [[user, password] = ["", ""]] = Object.entries(registry.users);
      await createPullSecret(lab, namespace, { name: "pull", host: registry.host, user, password });
      const reference = `${registry.host}/t/arm-single:v1`;
      const own = await runPod(lab, namespace, { image: reference, spec: { imagePullSecrets: [{ name: "pull" }] } });
      await waitUntil(
        "the ServiceAccount",
        async () => (await lab.kubectl(["-n", namespace, "get", "serviceaccount", "default"])).code === 0,
      );
      await kubectl(lab, "-n", namespace, "create", "serviceaccount", "puller");
      const secrets = '{"imagePullSecrets":[{"name":"pull"}]}';
      await kubectl(lab, "-n", namespace, "patch", "serviceaccount", "puller", "-p", secrets);
      const byAccount = await runPod(lab, namespace, { image: reference, spec: { serviceAccountName: "puller" } });
      assert.deepEqual({ own, byAccount }, { own: FROM_ARM, byAccount: FROM_ARM });
    });

    await t.step("inside of the cluster, by its Service: --insecure-registry of the Service's address", async () => {
      await using registry = await openRegistry(lab, { tls: false });
      const host = await exposeInCluster(lab, registry);
      await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", `ARCHWAY_INSECURE_REGISTRY=${host}`);
      await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
      const namespace = await lab.createNamespace("inside");
      assert.equal(await runPod(lab, namespace, { image: `${host}/t/arm-single:v1` }), FROM_ARM);
    });

    await t.step("a mirror: the ConfigMap archway-registries-conf and the component registries-conf", async () => {
      await mirrorOnNodes(lab, "mirrored.invalid");
      const conf = `--from-literal=registries.conf=${renderRegistriesConf(lab, "mirrored.invalid")}`;
      await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registries-conf", conf);
      await install(lab, { image, patch, components: ["registries-conf"] });
      const namespace = await lab.createNamespace("mirror");
      assert.equal(await runPod(lab, namespace, { image: "mirrored.invalid/t/arm-single:v1" }), FROM_ARM);
    });

    await t.step("uninstalled, nothing of it is left", () => uninstall(lab));
  },
);
