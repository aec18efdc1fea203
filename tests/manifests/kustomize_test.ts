import assert from "node:assert/strict";
import { relative } from "node:path";
import ipaddr from "ipaddr.js";
import { type ManifestObject, MANIFESTS, renderComposition, slugOf } from "../../manifests/generate/kustomize.ts";
import { KNOWN_ARCHITECTURES } from "../../lib/arch.ts";
import { FLAGS } from "../../lib/config/flags.ts";
import { isAllowedAddress, METADATA_ADDRESSES } from "../../lib/oci/http/address_guard.ts";
import { API_GROUP, RUNBOOK_BASE_URL, WebhookName, WebhookPath } from "../../lib/names.ts";
import { covers } from "../../lib/taints/decide/tolerations.ts";
import { parseTaintPod } from "../../lib/taints/decide/parse.ts";
import { listAtPath, numberAtPath, objectAtPath, textAtPath, valueAtPath } from "../../playground/json_path.ts";
import { readAlertGroups } from "../support/alerts.ts";
import { lacks } from "../support/needs.ts";
import { renderedComposition, renderedFolder } from "./support/rendered.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const test = (name: string, fn: () => Promise<void>): void => Deno.test({ name, ignore: lacks("kubectl"), fn });
const FOLDERS = [
  "base",
  ...["vanilla", "cert-manager", "openshift", "gke", "monitoring"].map((name) => `overlays/${name}`),
];
const COMPONENTS = [
  ...["least-privilege", "prewarm", "live-architectures", "arch-taints", "daemonsets-warn", "migration"],
  ...["node-registry-config", "exec-format-errors", "exec-format-repair", "kueue"],
].map((name) => `components/${name}`);

const POD = ["spec", "template", "spec"];

function find(objects: readonly ManifestObject[], slug: string): ManifestObject {
  const found = objects.find((object) => slugOf(object) === slug);
  assert.ok(found !== undefined, `no ${slug}`);
  return found;
}

/** The only container of Archway's own Deployment. */
function containerIn(objects: readonly ManifestObject[]): unknown {
  const [container, ...others] = listAtPath(find(objects, "deployment-archway"), ...POD, "containers");
  assert.deepEqual(others, []);
  return container;
}

function argumentsIn(objects: readonly ManifestObject[]): readonly string[] {
  return listAtPath(containerIn(objects), "args").map(String);
}

/** The services that the API server calls, by webhook; what is validated waits for an answer. */
function servicesOf(objects: readonly ManifestObject[]): Readonly<Record<string, unknown>> {
  const hooks = listAtPath(
    find(objects, `validatingwebhookconfiguration-${WebhookName.validatingConfiguration}`),
    "webhooks",
  );
  assert.ok(hooks.every((hook) => textAtPath(hook, "failurePolicy") === "Fail"));
  const definition = find(objects, `customresourcedefinition-clusterpodplacementconfigs.${API_GROUP}`);
  const conversion = valueAtPath(definition, "spec", "conversion", "webhook", "clientConfig", "service");
  const rows = hooks.map((hook) => [textAtPath(hook, "name"), valueAtPath(hook, "clientConfig", "service")]);
  return { ...Object.fromEntries(rows), conversion };
}

for (const folder of FOLDERS) {
  test(`${folder}: webhooks lead to the service, by the paths it serves (1.1, 1.4)`, async () => {
    const service = (path: string) => ({ namespace: "archway-system", name: "archway-webhook", path, port: 443 });
    assert.deepEqual(servicesOf(await renderedFolder(folder)), {
      "validate-clusterpodplacementconfig.multiarch.openshift.io": service(WebhookPath.validateClusterConfig),
      "validate-podplacementconfig.multiarch.openshift.io": service(WebhookPath.validateNamespaceConfig),
      conversion: service(WebhookPath.convert),
    });
  });

  test(`${folder}: two replicas, hardened, live is not ready, no CPU limit, time to drain`, async () => {
    const objects = await renderedFolder(folder);
    const container = containerIn(objects);
    assert.partialDeepStrictEqual(valueAtPath(find(objects, "deployment-archway"), "spec"), { replicas: 2 });
    assert.partialDeepStrictEqual(valueAtPath(find(objects, "deployment-archway"), ...POD), {
      ...{ priorityClassName: "system-cluster-critical", terminationGracePeriodSeconds: 30 },
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    assert.partialDeepStrictEqual(container, {
      livenessProbe: { httpGet: { path: "/healthz" } },
      readinessProbe: { httpGet: { path: "/readyz" } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    });
    assert.deepEqual(listAtPath(container, "securityContext", "capabilities", "drop"), ["ALL"]);
    assert.deepEqual(Object.keys(objectAtPath(container, "resources", "requests")), ["cpu", "memory"]);
    assert.deepEqual(Object.keys(objectAtPath(container, "resources", "limits")), ["memory"]);
  });

  test(`${folder}: the arguments are flags of serve, and what listens is what the Services point to`, async () => {
    const objects = await renderedFolder(folder);
    const container = containerIn(objects);
    const args = listAtPath(container, "args").map(String);
    assert.equal(args[0], "serve");
    assertFlags(args.slice(1));
    const listen = args.find((arg) => arg.startsWith("--listen="))?.split(":")[1] ?? "9443";
    const served = listAtPath(container, "ports").map((port) =>
      `${textAtPath(port, "name")} ${numberAtPath(port, "containerPort")}`
    );
    assert.deepEqual(served, [`webhook ${listen}`, "admin 8080"]);
    const labels = objectAtPath(find(objects, "deployment-archway"), "spec", "template", "metadata", "labels");
    const targets = objects.filter(({ kind }) => kind === "Service").flatMap((service) => {
      assert.partialDeepStrictEqual(labels, objectAtPath(service, "spec", "selector"));
      return listAtPath(service, "spec", "ports").map((port) => textAtPath(port, "targetPort"));
    });
    assert.deepEqual(targets.sort(), ["admin", "webhook"]);
  });

  test(`${folder}: moved to another namespace, nothing is left behind`, async () => {
    const text = JSON.stringify(await renderComposition(folder, [], { namespace: "elsewhere" }));
    const left = text.match(/.{60}archway-system.{20}/g) ?? [];
    // What cannot follow: names within a certificate, which the overlay's own `namespace` decides.
    assert.deepEqual(left.filter((place) => !place.includes("archway-webhook.archway-system.svc")), []);
  });
}

for (const component of COMPONENTS) {
  test(`${component}: adds rights of its own, and no arguments but flags of serve`, async () => {
    const [base, objects] = [await renderedFolder("base"), await renderedComposition("base", [component])];
    const before = argumentsIn(base);
    const args = argumentsIn(objects);
    assert.deepEqual(args.slice(0, before.length), before);
    assertFlags(args.slice(1));
    const roles = (list: readonly ManifestObject[]): readonly string[] =>
      list.filter(({ kind }) => /^(Cluster)?Role$/.test(kind)).map(slugOf).sort();
    assert.notDeepEqual(roles(objects), roles(base));
  });
}

test("base: every role is bound to the ServiceAccount, no wildcard, no right to escalate", async () => {
  const objects = await renderedFolder("base");
  const roles = objects.filter(({ kind, metadata }) => /Role$/.test(kind) && !/-(edit|view)$/.test(metadata.name));
  assert.ok(roles.length > 5);
  for (const role of roles) {
    const binding = find(objects, `${role.kind.toLowerCase()}binding-${role.metadata.name}`);
    assert.deepEqual(binding.subjects, [{ kind: "ServiceAccount", name: "archway", namespace: "archway-system" }]);
    for (const rule of listAtPath(role, "rules")) {
      const words = ["apiGroups", "resources", "verbs"].flatMap((member) => listAtPath(rule, member));
      for (const word of ["*", "escalate", "bind", "impersonate", "deletecollection"]) assert.ok(!words.includes(word));
    }
  }
});

function assertFlags(args: readonly string[]): void {
  for (const arg of args) {
    const [name = "", value] = arg.replace(/^--/, "").split("=");
    const flag = FLAGS.find((candidate) => candidate.name === name && candidate.commands.includes("serve"));
    assert.ok(flag !== undefined, `serve has no ${arg}`);
    if (flag.choices !== undefined) assert.ok(flag.choices.includes(value ?? ""), arg);
  }
}

for (const [path, components] of [...FOLDERS.map((folder) => [folder, []] as const), ["base", COMPONENTS] as const]) {
  test(`${path}${components.length === 0 ? "" : " with components"}: all of it is found by its label, to be removed`, async () => {
    for (const { kind, metadata } of await renderedComposition(path, components)) {
      const owner = textAtPath(metadata, "labels", "app.kubernetes.io/part-of");
      assert.equal(owner, "archway", `${kind} ${metadata.name}`);
    }
  });
}

const SERVING = ["upgrades", "image-builds"].map((name) => `components/${name}`);

test("every Deployment of Archway's own tolerates the taint of every architecture, whatever is installed", async () => {
  const compositions = [
    ...FOLDERS.map((folder) => [folder, []] as const),
    ["base", [...COMPONENTS, ...SERVING]] as const,
  ];
  const rule = { key: "supported-arch", effect: "NoSchedule" } as const;
  for (const [path, components] of compositions) {
    const deployments = (await renderedComposition(path, components)).filter(({ kind }) => kind === "Deployment");
    assert.equal(deployments.length, 1 + (components.length === 0 ? 0 : SERVING.length));
    for (const deployment of deployments) {
      const { name } = deployment.metadata;
      const spec = objectAtPath(deployment, ...POD);
      const tolerations = parseTaintPod({ ...deployment, metadata: { name }, spec }, rule)?.tolerations;
      const lacking = KNOWN_ARCHITECTURES.filter((architecture) =>
        !tolerations?.some((one) => covers(one, { rule, architecture }))
      );
      assert.deepEqual(lacking, [], `${path}: ${name}`);
    }
  }
});

test("where runbooks are read is said once, on the Deployment, and every alert's link follows", async () => {
  const runbookBaseUrl = "https://git.example.com/archway/blob/main/";
  const annotations = { [RUNBOOK_BASE_URL]: runbookBaseUrl };
  const metadata = { name: "archway", namespace: "archway-system", annotations };
  const patch = { apiVersion: "apps/v1", kind: "Deployment", metadata };
  await using folder = await temporaryFolder();
  const component = {
    ...{ apiVersion: "kustomize.config.k8s.io/v1alpha1", kind: "Component" },
    patches: [{ patch: JSON.stringify(patch) }],
  };
  await Deno.writeTextFile(`${folder.path}/kustomization.yaml`, JSON.stringify(component));
  const components = [relative(MANIFESTS, folder.path), "monitoring", "components/image-builds-alerts"];
  const objects = await renderedComposition("base", components);
  const links = objects.flatMap((object) => listAtPath(object, "spec", "groups")).flatMap((group) =>
    listAtPath(group, "rules")
  )
    .map((rule) => [textAtPath(rule, "alert"), textAtPath(rule, "annotations", "runbook_url")]);
  const wanted = Object.values(readAlertGroups()).flatMap(({ alerts, runbooksFile }) =>
    alerts.map(({ alert }) => [alert, `${runbookBaseUrl}${runbooksFile}#${alert.toLowerCase()}`])
  );
  assert.deepEqual(links.toSorted(), wanted.toSorted());
});

const NETWORK_POLICIES = [
  [[], "networkpolicy-archway"],
  [["components/upgrades"], "networkpolicy-archway-upgrades"],
  [["components/image-builds"], "networkpolicy-archway-image-builds"],
  [["components/exec-format-errors"], "networkpolicy-enoexec-event-daemon"],
] as const;
for (const [components, policy] of NETWORK_POLICIES) {
  test(`${policy} lets no port but those of names and of the API server on nodes reach metadata addresses`, async () => {
    const egress = listAtPath(find(await renderedComposition("base", components), policy), "spec", "egress");
    const open = egress.filter((rule) => valueAtPath(rule, "to") === undefined)
      .flatMap((rule) => listAtPath(rule, "ports").map((port) => numberAtPath(port, "port")));
    assert.deepEqual([...new Set(open)].sort(), [53, 5353, 6443]);
    const blocks = egress.flatMap((rule) =>
      listAtPath(rule, "to").flatMap((peer) => valueAtPath(peer, "ipBlock") ?? [])
    );
    assert.deepEqual(blocks.map((block) => textAtPath(block, "cidr")), ["0.0.0.0/0", "::/0"]);
    const excepted = blocks.flatMap((block) =>
      listAtPath(block, "except").map((range) => ipaddr.parseCIDR(String(range)))
    );
    for (const address of [...METADATA_ADDRESSES, "169.254.169.254", "169.254.170.2", "fe80::a9fe:a9fe"]) {
      const parsed = ipaddr.parse(address);
      const isExcepted = excepted.some(([network, bits]) =>
        network.kind() === parsed.kind() && parsed.match(network, bits)
      );
      assert.deepEqual([isAllowedAddress(address), isExcepted], [false, true], address);
    }
    for (const [network] of excepted) assert.ok(!isAllowedAddress(network.toString()), network.toString());
  });
}

test("two replicas are on two nodes where there are two: older and terminating ones do not count", async () => {
  const deployment = find(await renderedFolder("base"), "deployment-archway");
  assert.deepEqual(Object.keys(objectAtPath(deployment, ...POD, "affinity")), ["nodeAffinity"]);
  const byNode = listAtPath(deployment, ...POD, "topologySpreadConstraints")
    .find((constraint) => textAtPath(constraint, "topologyKey") === "kubernetes.io/hostname");
  const { whenUnsatisfiable, maxSkew, matchLabelKeys, nodeTaintsPolicy } = Object(byNode);
  assert.deepEqual([whenUnsatisfiable, maxSkew, nodeTaintsPolicy], ["DoNotSchedule", 1, "Honor"]);
  assert.deepEqual(matchLabelKeys, ["pod-template-hash"]);
});

test("the first probe waits for the usual start, and the last one for an emulated node", async () => {
  const startupProbe = { initialDelaySeconds: 2, failureThreshold: 120 };
  assert.partialDeepStrictEqual(containerIn(await renderedFolder("base")), { startupProbe });
});

test("overlays/openshift reads the node's registry configuration under whichever constraint the cluster has; a component undoes it", async () => {
  const text = async (components: readonly string[]): Promise<string> =>
    JSON.stringify(await renderedComposition("overlays/openshift", components));
  const [usual, legacy] = [await text([]), await text(["components/hostmount-anyuid"])];
  const without = await text(["components/no-node-registry-config"]);
  for (const objects of [usual, legacy]) {
    assert.match(objects, /"resourceNames":\["hostmount-anyuid-v2","hostmount-anyuid"\]/);
    assert.match(objects, /"mountPath":"\/etc\/docker\/certs\.d"/);
    assert.match(objects, /"mountPath":"\/etc\/containers"/);
    assert.doesNotMatch(objects, /required-scc/);
  }
  assert.match(usual, /"type":"spc_t"/);
  assert.doesNotMatch(legacy, /spc_t/);
  assert.doesNotMatch(without, /hostPath|spc_t|certs-dir|hostmount|"privileged"[,}]/);
  assert.match(without, /"pod-security\.kubernetes\.io\/enforce":"restricted"/);
  assert.doesNotMatch(JSON.stringify(await renderedFolder("base")), /hostPath|"privileged"[,}]/);
});

const MOUNTED = [
  ["registry-ca", "trusts", "--registry-ca=/etc/archway/registry-ca/ca.crt"],
  ["registries-conf", "reads", "--config=/etc/archway/registries-conf-settings/config.yaml"],
] as const;

for (const [name, uses, flag] of MOUNTED) {
  test(`components/${name} mounts the ConfigMap that it names and ${uses} it`, async () => {
    const objects = await renderedComposition("base", [`components/${name}`]);
    assertFlags(argumentsIn(objects).slice(1));
    const text = JSON.stringify(objects);
    for (const part of [`"${flag}"`, `"mountPath":"/etc/archway/${name}"`, `"configMap":{"name":"archway-${name}"}`]) {
      assert.ok(text.includes(part), part);
    }
  });
}

test("components/no-admission-policies leaves out what Kubernetes before 1.30 does not serve", async () => {
  const components = ["components/exec-format-errors", "components/upgrades"];
  const policies = async (more: readonly string[]): Promise<number> =>
    (await renderedComposition("base", [...components, ...more]))
      .filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy")).length;
  assert.equal(await policies([]), 12);
  assert.equal(await policies(["components/no-admission-policies"]), 0);
});
