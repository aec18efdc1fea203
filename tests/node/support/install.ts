// Installs Archway on the nodes of the lab as README does: image set, built, pushed, applied, rolled out, configured.
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { clusterConfig } from "../../cluster/support/objects.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { type ArchwayImage, ensureBuilt, push } from "./archway_images.ts";
import type { OpenLab } from "./open_lab.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
export const NAMESPACE = "archway-system";

/** The image of this checkout in the lab's registry, built at its first use in a run. */
export async function ensureImage(lab: OpenLab): Promise<string> {
  return await ensurePushed(lab, "dev");
}

/** The image of the daemon, in the same way. */
export async function ensureDaemonImage(lab: OpenLab): Promise<string> {
  return await ensurePushed(lab, "daemon");
}

async function ensurePushed({ lab: { registry } }: OpenLab, tag: ArchwayImage): Promise<string> {
  const reference = `${registry}/archway:${tag}`;
  const response = await fetch(`http://${registry}/v2/archway/tags/list`);
  if (!(await response.text()).includes(`"${tag}"`)) await push(await ensureBuilt(tag), reference);
  return reference;
}

/** Keeps the replicas off the emulated node, where a start takes up to two minutes. */
const ON_NATIVE_NODES: readonly unknown[] = [
  { op: "add", path: "/spec/template/spec/nodeSelector", value: { "kubernetes.io/arch": "amd64" } },
];

/** A namespace that is deleted waits for half the grace period of its pods, even if they have ended; ours end within 10 s. */
const GRACE_SECONDS = 12;

export interface Installation {
  /** Default: that of this checkout. */
  readonly image?: string;
  /** Folder below manifests/; default `base`. */
  readonly kustomization?: string;
  readonly components?: readonly string[];
  /** Default: {@link plainRegistry}. */
  readonly args?: readonly string[];
  /** Default: {@link ON_NATIVE_NODES}. */
  readonly patch?: readonly unknown[];
  /** Deployments of components, which are patched as Archway's own is. */
  readonly deployments?: readonly string[];
  readonly others?: readonly { readonly kind: string; readonly name: string; readonly patch: readonly unknown[] }[];
  /** Longest roll-out; default 120. */
  readonly rolloutSeconds?: number;
}

/** The flag with which Archway reads the lab's registry. */
export function plainRegistry({ lab: { registry } }: OpenLab): string {
  return `--insecure-registry=${registry}`;
}

/** Applies the manifests with the image and waits for the rollout. */
export async function install(lab: OpenLab, installation: Installation = {}): Promise<void> {
  const { rolloutSeconds = 120, image = await ensureImage(lab) } = installation;
  await using folder = await temporaryFolder();
  const defaults = { args: [plainRegistry(lab)], patch: ON_NATIVE_NODES };
  await writeOverlay(folder.path, { ...defaults, ...installation, image });
  await kubectl(lab, "apply", "-k", folder.path);
  await rolledOut(lab, { seconds: rolloutSeconds });
}

/** Waits until a Deployment, Archway's own unless another is named, is rolled out. */
export async function rolledOut(
  lab: OpenLab,
  { name = "archway", namespace = NAMESPACE, seconds = 120 }: {
    readonly name?: string;
    readonly namespace?: string;
    readonly seconds?: number;
  } = {},
): Promise<void> {
  const rollout = ["rollout", "status", `deployment/${name}`, `--timeout=${seconds}s`];
  await kubectl(lab, "-n", namespace, ...rollout).catch(async (cause: unknown) => {
    throw new Error(`Cannot roll out: ${await kubectl(lab, "-n", namespace, "describe", "pods")}`, { cause });
  });
}

/** kustomize takes folders by relative paths alone. */
async function writeOverlay(
  folder: string,
  { image, kustomization = "base", components = [], args = [], patch = [], deployments = [], others = [] }:
    & Installation
    & { readonly image: string },
): Promise<void> {
  const manifests = relative(await Deno.realPath(folder), join(await Deno.realPath(ROOT), "manifests"));
  const colon = image.lastIndexOf(":");
  const common = [
    { op: "add", path: "/spec/template/spec/terminationGracePeriodSeconds", value: GRACE_SECONDS },
    ...patch,
  ];
  const own = args.map((value) => ({ op: "add", path: "/spec/template/spec/containers/0/args/-", value }));
  await Deno.writeTextFile(
    `${folder}/kustomization.yaml`,
    stringify({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [join(manifests, kustomization)],
      components: components.map((name) => join(manifests, "components", name)),
      // What manifests/base sets.
      images: [
        { name: "registry.example.com/archway", newName: image.slice(0, colon), newTag: image.slice(colon + 1) },
      ],
      patches: [
        { kind: "Deployment", name: "archway", patch: [...common, ...own] },
        ...deployments.map((name) => ({ kind: "Deployment", name, patch: common })),
        ...others,
      ].map(({ kind, name, patch }) => ({ target: { kind, name }, patch: JSON.stringify(patch) })),
    }),
  );
}

/** The config of README, and the wait until it is Available. */
export async function configure(lab: OpenLab, spec: unknown = {}): Promise<void> {
  const config = clusterConfig(spec);
  await waitUntil("the config to be accepted", async () => {
    const { code } = await lab.kubectl(["apply", "-f", "-"], { stdin: JSON.stringify(config) });
    return code === 0;
  }, { deadlineMs: 30_000 });
  await kubectl(lab, "wait", "--for=condition=Available", "clusterpodplacementconfig/cluster", "--timeout=60s");
}

/** Runs kubectl as admin; throws what it printed when it fails. */
export async function kubectl(lab: OpenLab, ...args: readonly string[]): Promise<string> {
  return await lab.run(args);
}

export async function uninstall(
  lab: OpenLab,
  installed: Pick<Installation, "kustomization" | "components"> = {},
): Promise<void> {
  await kubectl(lab, "delete", "clusterpodplacementconfig", "cluster", "--ignore-not-found", "--timeout=90s");
  await using folder = await temporaryFolder();
  await writeOverlay(folder.path, { ...installed, image: "removed:1" });
  await deleteAll(lab, folder.path).catch(async (cause: unknown) => {
    const look = ["get", "namespace,pods,serviceaccounts", "-n", NAMESPACE, "-o", "yaml"];
    throw new Error(`Cannot uninstall: ${(await lab.kubectl(look)).stdout}`, { cause });
  });
}

/** What `kubectl delete -k` does, which looks for one object after the other to be gone, five a second. */
async function deleteAll(lab: OpenLab, folder: string): Promise<void> {
  const remove = ["delete", "-k", folder, "--ignore-not-found", "--wait=false"];
  await kubectl(lab, ...remove);
  // It takes longest.
  await kubectl(lab, "wait", "--for=delete", `namespace/${NAMESPACE}`, "--timeout=90s");
  const list = ["get", "-k", folder, "--ignore-not-found", "-o", "name"];
  let left = "";
  await waitUntil("every object to be gone", async () => {
    left = await kubectl(lab, ...list);
    // An API server does not go on with a definition whose status it wrote twice at once, until something else writes it.
    if (left !== "") await kubectl(lab, ...remove);
    return left === "";
  }, { deadlineMs: 60_000, intervalMs: 1_000 }).catch((cause: unknown) => {
    throw new Error(`Cannot delete ${left}`, { cause });
  });
}
