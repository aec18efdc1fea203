// Registries as users have them: for each, what docs/registries.md says is set, and nothing else; then containers run.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { createPullSecret } from "../cluster/support/pods.ts";
import type { RealRegistry, RegistryOptions } from "../cluster/support/registry.ts";
import { installChart, uninstallChart } from "./support/helm_release.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { configure, ensureImage, install, kubectl, NAMESPACE, rolledOut, uninstall } from "./support/install.ts";
import { mirrorOnNodes, openNodeRegistry, renderRegistriesConf, trustOnNodes } from "./support/node_registries.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { auditLength, refusedSince } from "./support/refusals.ts";

/** A registry on the nodes' network that holds t/arm-single:v1 for arm64 alone, and that the nodes' own runtimes can use. */
function openRegistry(lab: OpenLab, options: RegistryOptions): Promise<RealRegistry> {
  return openNodeRegistry(lab, { ...options, images: ["arm-single"] });
}

const MIRRORED = "mirrored.invalid";
/** An address of Services that nothing else takes. */
const CLUSTER_IP = "10.96.0.200";

/** Puts a Service in front of a registry, so that it is reached as one that runs inside of the cluster; `undo` takes it away. */
async function exposeInCluster(
  lab: OpenLab,
  { registry: { host }, undo }: { readonly registry: RealRegistry; readonly undo: AsyncDisposableStack },
): Promise<string> {
  const namespace = await lab.createNamespace("registry-service");
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
  await lab.create(`/api/v1/namespaces/${namespace}/services`, service);
  // Its address is free again at once.
  undo.defer(async () => void await lab.request("DELETE", `/api/v1/namespaces/${namespace}/services/registry`));
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  await lab.create(slices, slice);
  const name = `${CLUSTER_IP}:5000`;
  await trustOnNodes(lab, name, `server = "http://${name}"\n`);
  return name;
}

const FROM_ARM = "hello from linux/arm64\n";

interface StartedPod {
  readonly namespace: string;
  readonly name: string;
}

/** Creates a pod of a registry's image, which only an arm64 node can run. */
async function startPod(
  lab: OpenLab,
  namespace: string,
  pod: { readonly image: string; readonly spec?: object },
): Promise<StartedPod> {
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
  return { namespace, name };
}

async function assertRan(lab: OpenLab, { namespace, name }: StartedPod): Promise<void> {
  assert.equal(await lab.logOfEnded(namespace, name), FROM_ARM);
}

/** Runs a pod that names a pull secret, and one whose ServiceAccount does. */
async function assertLogins(lab: OpenLab, registry: RealRegistry): Promise<void> {
  const namespace = await lab.createNamespace("login");
  await createPullSecret(lab, namespace, { ...registry, name: "pull" });
  const reference = `${registry.host}/t/arm-single:v1`;
  const own = await startPod(lab, namespace, { image: reference, spec: { imagePullSecrets: [{ name: "pull" }] } });
  await kubectl(lab, "-n", namespace, "create", "serviceaccount", "puller");
  const secrets = '{"imagePullSecrets":[{"name":"pull"}]}';
  await kubectl(lab, "-n", namespace, "patch", "serviceaccount", "puller", "-p", secrets);
  const byAccount = await startPod(lab, namespace, { image: reference, spec: { serviceAccountName: "puller" } });
  await assertRan(lab, own);
  await assertRan(lab, byAccount);
}

interface Registries extends AsyncDisposable {
  readonly issued: RealRegistry;
  readonly selfSigned: RealRegistry;
  readonly plain: RealRegistry;
  readonly locked: RealRegistry;
  /** A Service in front of `plain`. */
  readonly inside: string;
}

async function openRegistries(lab: OpenLab): Promise<Registries> {
  await using undo = new AsyncDisposableStack();
  const open = async (options: RegistryOptions): Promise<RealRegistry> => undo.use(await openRegistry(lab, options));
  const [issued, selfSigned] = [await open({}), await open({})];
  await selfSigned.serveSelfSigned();
  const [plain, locked] = [await open({ tls: false }), await open({ tls: false, auth: "htpasswd" })];
  const inside = await exposeInCluster(lab, { registry: plain, undo });
  await mirrorOnNodes(lab, MIRRORED);
  const opened = undo.move();
  return { issued, selfSigned, plain, locked, inside, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The ConfigMaps of docs/registries.md: CAs, the certificate that is its own, mirrors. */
async function createConfigMaps(lab: OpenLab, { issued, selfSigned }: Registries): Promise<void> {
  const bundle = `${lab.directory}/registries.crt`;
  const certificates = await Promise.all([issued, selfSigned].map(({ caFile }) => Deno.readTextFile(caFile)));
  await Deno.writeTextFile(bundle, certificates.join(""));
  await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registry-ca", `--from-file=ca.crt=${bundle}`);
  const conf = `--from-literal=registries.conf=${renderRegistriesConf(lab, MIRRORED)}`;
  await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registries-conf", conf);
}

async function startFrom(lab: OpenLab, host: string): Promise<StartedPod> {
  return await startPod(lab, await lab.createNamespace("registry"), { image: `${host}/t/arm-single:v1` });
}

/** Starts a pod from each host, all at once, and has a step for each, by what the host is called. */
async function assertEach(
  t: Deno.TestContext,
  lab: OpenLab,
  hosts: Readonly<Record<string, string>>,
): Promise<void> {
  const started = await Promise.all(
    Object.entries(hosts).map(async ([kind, host]) => [kind, await startFrom(lab, host)] as const),
  );
  for (const [kind, pod] of started) await t.step(kind, () => assertRan(lab, pod));
}

Deno.test("node: pods run from registries with any CA, pull secrets, plain HTTP, by a Service and by a mirror", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await using registries = await openRegistries(lab);
  const { issued, selfSigned, plain, locked, inside } = registries;
  await kubectl(lab, "create", "namespace", NAMESPACE);
  await createConfigMaps(lab, registries);

  await t.step("the ConfigMap archway-registry-ca and the component registry-ca", async () => {
    await install(lab, { args: [], components: ["registry-ca"] });
    await configure(lab);
  });
  await assertEach(t, lab, {
    "TLS, issued by a private CA": issued.host,
    "TLS, a certificate of its own": selfSigned.host,
  });

  await t.step("--insecure-registry by the environment", async () => {
    const hosts = [plain.host, locked.host, inside].join();
    await install(lab, { args: [] });
    await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", `ARCHWAY_INSECURE_REGISTRY=${hosts}`);
    await rolledOut(lab);
  });
  await assertEach(t, lab, { "plain HTTP": plain.host, "inside of the cluster, by its Service": inside });
  await t.step("a login: imagePullSecrets of the pod, and of its ServiceAccount", () => assertLogins(lab, locked));

  await t.step("a mirror: the ConfigMap archway-registries-conf and the component registries-conf", async () => {
    await install(lab, { args: [], components: ["registries-conf"] });
    await assertRan(lab, await startFrom(lab, MIRRORED));
  });
  await t.step("uninstalled, nothing of it is left", async () => {
    await uninstall(lab);
    await assertNothingLeft(lab);
  });
});

/** What a page's table of registries says to set with Helm for a kind. Pure. */
function helmCellOf(page: string, kind: string): string {
  const row = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim())).find((cells) =>
    cells[1] === kind
  );
  return row?.[3] ?? assert.fail(`docs/registries.md has no row "${kind}"`);
}

/** The value in a cell, such as `registryCa=true`. */
function valueIn(cell: string): string {
  return /`(\w+=true)`/.exec(cell)?.[1] ?? assert.fail(cell);
}

Deno.test("node: the Helm chart installs, places pods of all these registries within its rights, and uninstalls", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const image = await ensureImage(lab);
  await using registries = await openRegistries(lab);
  const { issued, selfSigned, plain, locked, inside } = registries;
  await kubectl(lab, "create", "namespace", NAMESPACE);
  await createConfigMaps(lab, registries);
  const page = await Deno.readTextFile(new URL("../../docs/registries.md", import.meta.url));
  const [ca, mirrors] = ["a private CA", "mirrors for Archway alone"].map((kind) => valueIn(helmCellOf(page, kind)));
  assert.equal(helmCellOf(page, "plain HTTP, or a certificate that cannot be verified"), "the same by `extraArgs`");
  const before = await auditLength(lab);

  await t.step("installed with what docs/registries.md says of each", async () => {
    const insecure = [plain.host, locked.host, inside].map((host) => `--insecure-registry=${host}`);
    await installChart(lab, { image, set: [ca ?? "", mirrors ?? "", `extraArgs={${insecure.join()}}`] });
    await configure(lab);
  });
  const hosts = { issued: issued.host, "self-signed": selfSigned.host, "plain HTTP": plain.host };
  await assertEach(t, lab, { ...hosts, "by a Service": inside, "a mirror": MIRRORED });
  await t.step("a login: imagePullSecrets of the pod, and of its ServiceAccount", () => assertLogins(lab, locked));
  await t.step("no request was refused for want of a right; uninstalled, nothing is left", async () => {
    assert.deepEqual(await refusedSince(lab, before), []);
    await uninstallChart(lab);
    await assertNothingLeft(lab);
  });
});
