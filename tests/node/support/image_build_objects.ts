// The objects of OpenShift that node images are built of. Pure.
import { OPTIONAL_INPUTS } from "../../../lib/builds/decide/optional_inputs.ts";
import {
  BUILD_NAMESPACE,
  renderConfig as renderConfigOf,
  renderPool as renderPoolOf,
  renderRendered,
} from "../../cluster/support/build_objects.ts";
import type { NodeArch } from "./program_images.ts";

export const API_VERSION = "machineconfiguration.openshift.io/v1";
export const POOL = "worker";
export const POOL_LABEL = `node-role.kubernetes.io/${POOL}`;
/** The secret to push with; the account of builds pulls with it as well. */
export const PUSH_SECRET = "push";

/** What the pool's configuration has. */
export const POOL_FILE = "/etc/team.conf";

const RENDERED = `rendered-${POOL}-1`;
const ACCOUNT = "machine-os-builder";

/** The pods of Jobs pull the builder with a login, and write the ConfigMap with the digest. */
export function renderAccount(): readonly unknown[] {
  const metadata = { name: ACCOUNT, namespace: BUILD_NAMESPACE };
  const rbac = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update"] }];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, imagePullSecrets: [{ name: PUSH_SECRET }] },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: ACCOUNT },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
  ];
}

/** Where the cluster says which image builds. */
export function renderImages(builder: string): unknown {
  const images = JSON.stringify({ machineConfigOperator: builder });
  const metadata = { name: "machine-config-operator-images", namespace: BUILD_NAMESPACE };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "images.json": images } };
}

/** Where the cluster says which authority its registries have. kubectl would leave out what is null, and must be there. */
export function renderControllerConfig(caPem: string): unknown {
  const bundle = btoa(caPem);
  const empty = ["baseOSContainerImage", "cloudProviderConfig", "clusterDNSIP", "ipFamilies", "releaseImage"];
  const none = ["cloudProviderCAData", "dns", "infra", "network", "proxy"];
  const spec = {
    ...Object.fromEntries(empty.map((name) => [name, ""])),
    ...Object.fromEntries(none.map((name) => [name, null])),
    ...{ images: {}, additionalTrustBundle: bundle, kubeAPIServerServingCAData: bundle, rootCAData: bundle },
  };
  return { apiVersion: API_VERSION, kind: "ControllerConfig", metadata: { name: "machine-config-controller" }, spec };
}

/** The pool of all nodes, with a configuration on a base image. */
export function renderPool(osImageURL: string): readonly unknown[] {
  const files = {
    "/etc/containers/policy.json": '{"default":[{"type":"insecureAcceptAnything"}]}',
    "/etc/containers/registries.conf": 'unqualified-search-registries = ["registry.access.redhat.com"]\n',
    [POOL_FILE]: "from the pool\n",
  };
  return [renderRendered(RENDERED, { osImageURL, files }), renderPoolOf(POOL, RENDERED)];
}

/** What the pool's image is made of: a text of its own for each architecture, which a step of the build keeps. */
export function renderConfig(pushSpec: string, texts: Readonly<Record<NodeArch, string>>): unknown {
  const containerFile = Object.entries(texts).map(([arch, text]) => ({
    containerfileArch: arch.toUpperCase(),
    content: `FROM configs AS final\nRUN ${keep(text)}\n`,
  }));
  const { repository = "", tag = "" } = /^(?<repository>.+):(?<tag>[^:]+)$/.exec(pushSpec)?.groups ?? {};
  return renderConfigOf({ pool: POOL, containerFile, pushSecret: PUSH_SECRET, tag }, repository);
}

/** Keeps a text in the image with what the step ran on, and the inputs of the cluster that it finds. */
function keep(text: string): string {
  const inputs = OPTIONAL_INPUTS.map(({ path }) => `${path}/*`).join(" ");
  const each = `for file in ${inputs}; do [ ! -f $file ] || echo "$file: $(cat $file)"; done`;
  return `mkdir /etc/built && { echo "$(uname -m): ${text}"; ${each}; } > /etc/built/text`;
}
