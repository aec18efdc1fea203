// Registries as users have them: for each, what docs/registries.md says is set, and nothing else; then containers run.
import assert from "node:assert/strict";
import { createPullSecret } from "../cluster/support/pods.ts";
import { type RealRegistry, type RegistryOptions, startRegistry } from "../cluster/support/registry.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { configure, ensureImage, install, kubectl, NAMESPACE, ON_NATIVE_NODES, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { buildProgramImage } from "./support/program_images.ts";
import { ensureNodePrograms } from "./support/programs.ts";

/** A registry on the nodes' network that holds t/arm:v1 for arm64 alone, and that the nodes' own runtimes can use. */
async function openRegistry(lab: OpenLab, options: RegistryOptions): Promise<RealRegistry> {
  const [first] = lab.lab.hosts;
  const registry = await startRegistry({ ...options, address: first?.address ?? "" });
  const { app } = await ensureNodePrograms();
  const image = await buildProgramImage({ kind: "single", platform: { claims: "arm64" } }, app);
  await registry.pushDocuments("t/arm", "v1", image);
  for (const { directory } of lab.lab.hosts) {
    await Deno.mkdir(`${directory}/certs.d/${registry.host}`, { recursive: true });
    const text = `server = "${registry.url}"\n[host."${registry.url}"]\nca = "${registry.caFile}"\n`;
    await Deno.writeTextFile(`${directory}/certs.d/${registry.host}/hosts.toml`, text);
  }
  return registry;
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

Deno.test("node: pods run from registries with a private CA, a certificate of their own, pull secrets and plain HTTP", {
  ignore: lacks("nodes"),
}, async (t) => {
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
      assert.equal(await runPod(lab, namespace, { image: `${registry.host}/t/arm:v1` }), FROM_ARM);
    });
  }

  await t.step("plain HTTP: --insecure-registry by the environment", async () => {
    await using registry = await openRegistry(lab, { tls: false });
    await install(lab, { image, patch });
    const variable = `ARCHWAY_INSECURE_REGISTRY=${registry.host}`;
    await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", variable);
    await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
    const namespace = await lab.createNamespace("plain");
    assert.equal(await runPod(lab, namespace, { image: `${registry.host}/t/arm:v1` }), FROM_ARM);
  });

  await t.step("a login: imagePullSecrets of the pod, and of its ServiceAccount", async () => {
    await using registry = await openRegistry(lab, { tls: false, auth: "htpasswd" });
    const variable = `ARCHWAY_INSECURE_REGISTRY=${registry.host}`;
    await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", variable);
    await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
    const namespace = await lab.createNamespace("login");
    const [[user, password] = ["", ""]] = Object.entries(registry.users);
    await createPullSecret(lab, namespace, { name: "pull", host: registry.host, user, password });
    const reference = `${registry.host}/t/arm:v1`;
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

  await t.step("uninstalled, nothing of it is left", () => uninstall(lab));
});
