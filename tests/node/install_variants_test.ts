// Every way to install Archway, on the nodes: installed, a pod placed, no request refused for want of a right, uninstalled with
// nothing left. What an overlay needs of others is named by the API server, then defined and played here.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { defineKinds, type ForeignKind, injectCa, keepCertificate, keepTrustedCa } from "./support/foreign_apis.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { configure, install, kubectl, NAMESPACE, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { auditLength, refusedSince } from "./support/refusals.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

interface Variant {
  readonly kustomization: string;
  readonly components: readonly string[];
  /** What the kustomization names, and what its components do besides. */
  readonly needs: readonly ForeignKind[];
  readonly componentNeeds?: readonly ForeignKind[];
  readonly certificates: "archway" | "cert-manager" | "openshift";
}

const OWN = { needs: [], certificates: "archway" } as const;

/** Components that go together share an installation; each is in one. */
const VARIANTS: readonly Variant[] = [
  {
    ...OWN,
    kustomization: "overlays/vanilla",
    components: ["prewarm", "daemonsets-warn", "migration", "registry-ca", "no-pull-secrets", "no-admission-policies"],
  },
  {
    ...OWN,
    kustomization: "overlays/gke",
    components: ["live-architectures", "least-privilege", "kueue"],
    componentNeeds: ["AdmissionCheck", "ResourceFlavor", "Workload"],
  },
  {
    ...OWN,
    kustomization: "overlays/monitoring",
    components: ["node-registry-config", "hostmount-anyuid", "image-builds-alerts"],
    needs: ["ServiceMonitor", "PrometheusRule"],
  },
  { ...OWN, kustomization: "base", components: ["exec-format-errors", "exec-format-repair"] },
  {
    kustomization: "overlays/cert-manager",
    components: [],
    needs: ["Issuer", "Certificate"],
    certificates: "cert-manager",
  },
  {
    kustomization: "overlays/openshift",
    components: ["no-node-registry-config"],
    needs: ["ServiceMonitor", "PrometheusRule"],
    certificates: "openshift",
  },
];

/** Components that others install, on the nodes, as part of an overlay, or because they run beside what others serve. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "arch-taints": "tests/node/taints_test.ts",
  "image-builds": "tests/node/image_builds_test.ts",
  "image-builds-hold": "tests/cluster/image_builds_hold_test.ts",
  "image-builds-hold-webhook": "tests/cluster/image_builds_hold_test.ts",
  "registries-conf": "tests/node/registries_test.ts",
  "tls-files": "manifests/overlays/cert-manager/kustomization.yaml",
  "upgrades": "tests/node/upgrades_test.ts",
  "upgrades-monitoring": "tests/node/install_openshift_test.ts",
  "upgrades-original-metrics": "tests/node/install_openshift_test.ts",
  "upgrades-drain": "tests/node/install_openshift_test.ts",
};

async function foldersOf(kind: "overlays" | "components"): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(`${ROOT}manifests/${kind}`))).map(({ name }) => name).sort();
}

/** Runs a pod whose image is for arm64 alone, and asserts that Archway has put it there. */
async function assertPlaces(lab: OpenLab): Promise<void> {
  const namespace = await lab.createNamespace("variant");
  await lab.createPods(namespace, [{ name: "arm", image: "arm-single", args: ["hello"] }]);
  assert.equal(await lab.logOfEnded(namespace, "arm"), "hello from linux/arm64\n");
  const pod = await lab.get(`/api/v1/namespaces/${namespace}/pods/arm`);
  assert.equal(read(pod, "metadata", "labels", "multiarch.openshift.io/node-affinity"), "set");
  await kubectl(lab, "delete", "namespace", namespace, "--wait=false");
}

/** The kinds that the API server does not serve, by its own message. */
async function unknownKinds(lab: OpenLab, kustomization: string): Promise<readonly string[]> {
  const nothing = ["--dry-run=client", "--validate=false"];
  const { code, stderr } = await lab.kubectl(["apply", ...nothing, "-k", `${ROOT}manifests/${kustomization}`]);
  if (code === 0) return [];
  return [...new Set([...stderr.matchAll(/no matches for kind "(\w+)"/g)].map(([, kind = ""]) => kind))];
}

/** What must be there before the manifests are. Gives the CA where others keep it. */
async function prepare(lab: OpenLab, { certificates, components }: Variant): Promise<string> {
  if (certificates === "archway") {
    if (!components.includes("registry-ca")) return "";
    await kubectl(lab, "create", "namespace", NAMESPACE);
    const file = `--from-file=ca.crt=${lab.caFile}`;
    await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registry-ca", file);
    return "";
  }
  const pem = await keepCertificate(lab);
  if (certificates === "openshift") await keepTrustedCa(lab, pem);
  return pem;
}

Deno.test("node: every overlay and each other component installs, places a pod within its rights, uninstalls", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await t.step("none is left out", async () => {
    const overlays = VARIANTS.map(({ kustomization }) => kustomization).filter((name) => name.startsWith("overlays/"));
    assert.deepEqual(overlays.map((name) => name.slice("overlays/".length)).sort(), await foldersOf("overlays"));
    const components = [...VARIANTS.flatMap((variant) => variant.components), ...Object.keys(ELSEWHERE)];
    assert.deepEqual(components.sort(), await foldersOf("components"));
    for (const [name, file] of Object.entries(ELSEWHERE)) {
      assert.ok((await Deno.readTextFile(`${ROOT}${file}`)).includes(name), file);
    }
  });
  for (const variant of VARIANTS) {
    const { kustomization, components, needs, componentNeeds = [], certificates } = variant;
    await t.step([kustomization, ...components].join(" + "), async () => {
      const before = await auditLength(lab);
      assert.deepEqual([...await unknownKinds(lab, kustomization)].sort(), [...needs].sort());
      await using _kinds = await defineKinds(lab, [...needs, ...componentNeeds]);
      const pem = await prepare(lab, variant);
      await install(lab, { kustomization, components });
      const isInjected = certificates === "openshift";
      if (isInjected) await injectCa(lab, pem, "checks");
      await Promise.all([configure(lab), ...(isInjected ? [injectCa(lab, pem, "gate")] : [])]);
      await assertPlaces(lab);
      assert.deepEqual(await refusedSince(lab, before), []);
      await uninstall(lab, { kustomization, components });
      await assertNothingLeft(lab);
    });
  }
});
