import assert from "node:assert/strict";
import { relative } from "node:path";
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { type ManifestObject, MANIFESTS, renderComposition, slugOf } from "../../manifests/generate/kustomize.ts";
import { KNOWN_ARCHITECTURES } from "../../lib/arch.ts";
import { FLAGS } from "../../lib/config/flags.ts";
import { objectAt } from "../../lib/json.ts";
import { isAllowedAddress, METADATA_ADDRESSES } from "../../lib/oci/http/address_guard.ts";
import { API_GROUP, LEASE_NAME, RUNBOOK_BASE_URL, WebhookName, WebhookPath } from "../../lib/names.ts";
import { covers } from "../../lib/taints/decide/tolerations.ts";
import { parseTaintPod } from "../../lib/taints/decide/views.ts";
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

const SERVICE = z.object({ namespace: z.string(), name: z.string(), path: z.string(), port: z.literal(443) });
const CLIENT = z.object({ service: SERVICE });
const DEPLOYMENT = z.object({
  spec: z.object({
    replicas: z.int(),
    template: z.object({
      spec: z.object({
        priorityClassName: z.string(),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.object({ runAsNonRoot: z.literal(true), seccompProfile: z.object({ type: z.string() }) }),
        containers: z.tuple([z.object({
          args: z.array(z.string()),
          ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
          resources: z.object({
            requests: z.object({ cpu: z.string(), memory: z.string() }),
            limits: z.record(z.string(), z.string()),
          }),
          startupProbe: z.object({ initialDelaySeconds: z.int(), failureThreshold: z.int() }),
          livenessProbe: z.object({ httpGet: z.object({ path: z.string() }) }),
          readinessProbe: z.object({ httpGet: z.object({ path: z.string() }) }),
          securityContext: z.object({
            readOnlyRootFilesystem: z.literal(true),
            allowPrivilegeEscalation: z.literal(false),
            capabilities: z.object({ drop: z.tuple([z.literal("ALL")]) }),
          }),
        })]),
      }),
    }),
  }),
});
const LABELLED = z.looseObject({ labels: z.record(z.string(), z.string()).default({}) });
const RULES = z.array(z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
}));

function find(objects: readonly ManifestObject[], slug: string): ManifestObject {
  const found = objects.find((object) => slugOf(object) === slug);
  assert.ok(found !== undefined, `no ${slug}`);
  return found;
}

function deploymentOf(objects: readonly ManifestObject[]): z.infer<typeof DEPLOYMENT>["spec"] {
  return DEPLOYMENT.parse(find(objects, "deployment-archway")).spec;
}

/** The rows of the API server's way in: who, where. */
function clientsOf(objects: readonly ManifestObject[]): readonly (readonly [string, z.infer<typeof CLIENT>])[] {
  const { webhooks } = find(objects, `validatingwebhookconfiguration-${WebhookName.validatingConfiguration}`);
  const rows = z.array(z.looseObject({ name: z.string(), failurePolicy: z.literal("Fail"), clientConfig: CLIENT }))
    .parse(webhooks);
  const { spec } = find(objects, `customresourcedefinition-clusterpodplacementconfigs.${API_GROUP}`);
  const { conversion } = z.looseObject({ conversion: z.object({ webhook: z.looseObject({ clientConfig: CLIENT }) }) })
    .parse(spec);
  return [
    ...rows.map(({ name, clientConfig }) => [name, clientConfig] as const),
    ["conversion", conversion.webhook.clientConfig],
  ];
}

for (const folder of FOLDERS) {
  test(`${folder}: webhooks lead to the service, by the paths it serves (1.1, 1.4)`, async () => {
    const clients = clientsOf(await renderedFolder(folder));
    const service = (path: string): unknown => ({
      service: { namespace: "archway-system", name: "archway-webhook", path, port: 443 },
    });
    assert.deepEqual(Object.fromEntries(clients), {
      [WebhookName.validateClusterConfig]: service(WebhookPath.validateClusterConfig),
      [WebhookName.validateNamespaceConfig]: service(WebhookPath.validateNamespaceConfig),
      conversion: service(WebhookPath.convert),
    });
  });

  test(`${folder}: two replicas, hardened, live is not ready, no CPU limit, time to drain`, async () => {
    const { replicas, template } = deploymentOf(await renderedFolder(folder));
    const { priorityClassName, terminationGracePeriodSeconds, containers: [container] } = template.spec;
    assert.deepEqual([replicas, priorityClassName, terminationGracePeriodSeconds], [2, "system-cluster-critical", 30]);
    assert.equal(template.spec.securityContext.seccompProfile.type, "RuntimeDefault");
    assert.deepEqual(Object.keys(container.resources.limits), ["memory"]);
    const { livenessProbe, readinessProbe } = container;
    assert.deepEqual([livenessProbe.httpGet.path, readinessProbe.httpGet.path], ["/healthz", "/readyz"]);
  });

  test(`${folder}: the arguments are flags of serve, and what listens is what the Services point to`, async () => {
    const { args, ports } = deploymentOf(await renderedFolder(folder)).template.spec.containers[0];
    assert.equal(args[0], "serve");
    assertFlags(args.slice(1));
    const listen = args.find((arg) => arg.startsWith("--listen="))?.split(":")[1] ?? "9443";
    const served = ports.map(({ name, containerPort }) => `${name} ${containerPort}`);
    assert.deepEqual(served, [`webhook ${listen}`, "admin 8080"]);
  });

  test(`${folder}: moved to another namespace, nothing is left behind`, async () => {
    const text = JSON.stringify(await renderComposition(folder, [], { namespace: "elsewhere" }));
    const left = text.match(/.{60}archway-system.{20}/g) ?? [];
    // What cannot follow: names within a certificate, which the overlay's own `namespace` decides.
    assert.deepEqual(left.filter((place) => !place.includes("archway-webhook.archway-system.svc")), []);
  });
}

for (const component of COMPONENTS) {
  test(`${component}: adds flags of serve, and rights of its own`, async () => {
    const [base, objects] = [await renderedFolder("base"), await renderedComposition("base", [component])];
    const before = deploymentOf(base).template.spec.containers[0].args;
    const { args } = deploymentOf(objects).template.spec.containers[0];
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
    for (const rule of RULES.parse(role.rules)) {
      assert.ok(![...rule.apiGroups, ...rule.resources, ...rule.verbs].includes("*"));
      assert.ok(!rule.verbs.some((verb) => ["escalate", "bind", "impersonate", "deletecollection"].includes(verb)));
    }
  }
});

test("base: names in the rights are the names that the service uses", async () => {
  const rules = (await renderedFolder("base")).flatMap(({ rules }) => rules === undefined ? [] : RULES.parse(rules));
  const names = new Set(rules.flatMap(({ resourceNames }) => resourceNames ?? []));
  for (const name of [LEASE_NAME, WebhookName.configuration, WebhookName.validatingConfiguration, "archway-tls"]) {
    assert.ok(names.has(name), name);
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
      const { labels } = LABELLED.parse(metadata);
      assert.equal(labels["app.kubernetes.io/part-of"], "archway", `${kind} ${metadata.name}`);
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
      const spec = objectAt(objectAt(objectAt(deployment, "spec"), "template"), "spec");
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
  const links = [...JSON.stringify(objects).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, link = ""]) => link);
  const wanted = Object.values(readAlertGroups()).flatMap(({ alerts, runbooksFile }) =>
    alerts.map(({ alert }) => `${runbookBaseUrl}${runbooksFile}#${alert.toLowerCase()}`)
  );
  assert.deepEqual(links.toSorted(), wanted.toSorted());
});

const IP_BLOCK = z.object({ cidr: z.string(), except: z.array(z.string()).default([]) });
const NETWORK_POLICY = z.object({
  spec: z.object({
    egress: z.array(z.object({
      ports: z.array(z.object({ port: z.int() })),
      to: z.array(z.object({ ipBlock: IP_BLOCK.optional() })).optional(),
    })),
  }),
});

const NETWORK_POLICIES = [
  [[], "networkpolicy-archway"],
  [["components/upgrades"], "networkpolicy-archway-upgrades"],
  [["components/image-builds"], "networkpolicy-archway-image-builds"],
  [["components/exec-format-errors"], "networkpolicy-enoexec-event-daemon"],
] as const;
for (const [components, policy] of NETWORK_POLICIES) {
  test(`${policy} lets no port but those of names and of the API server on nodes reach metadata addresses`, async () => {
    const { spec: { egress } } = NETWORK_POLICY.parse(find(await renderedComposition("base", components), policy));
    const open = egress.filter(({ to }) => to === undefined).flatMap(({ ports }) => ports.map(({ port }) => port));
    assert.deepEqual([...new Set(open)].sort(), [53, 5353, 6443]);
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    assert.deepEqual(blocks.map(({ cidr }) => cidr), ["0.0.0.0/0", "::/0"]);
    const excepted = blocks.flatMap(({ except }) => except.map((range) => ipaddr.parseCIDR(range)));
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

const SPREAD = z.object({
  affinity: z.record(z.string(), z.unknown()),
  topologySpreadConstraints: z.array(z.looseObject({ topologyKey: z.string(), whenUnsatisfiable: z.string() })),
});

test("two replicas are on two nodes where there are two: older and terminating ones do not count", async () => {
  const { spec } = z.object({ spec: z.object({ template: z.object({ spec: SPREAD }) }) })
    .parse(find(await renderedFolder("base"), "deployment-archway"));
  const { affinity, topologySpreadConstraints } = spec.template.spec;
  assert.deepEqual(Object.keys(affinity), ["nodeAffinity"]);
  const byNode = topologySpreadConstraints.find(({ topologyKey }) => topologyKey === "kubernetes.io/hostname");
  const { whenUnsatisfiable, maxSkew, matchLabelKeys, nodeTaintsPolicy } = Object(byNode);
  assert.deepEqual([whenUnsatisfiable, maxSkew, nodeTaintsPolicy], ["DoNotSchedule", 1, "Honor"]);
  assert.deepEqual(matchLabelKeys, ["pod-template-hash"]);
});

test("the first probe waits for the usual start, and the last one for an emulated node", async () => {
  const { startupProbe } = deploymentOf(await renderedFolder("base")).template.spec.containers[0];
  assert.deepEqual(startupProbe, { initialDelaySeconds: 2, failureThreshold: 120 });
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
    assertFlags(deploymentOf(objects).template.spec.containers[0].args.slice(1));
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
