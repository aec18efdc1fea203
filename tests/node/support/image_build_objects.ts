// The objects of OpenShift that node images are built of. Pure.
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

/** The pool of all nodes, with a configuration on a base image. */
export function renderPool(osImageURL: string): readonly unknown[] {
  const files = {
    "/etc/containers/policy.json": '{"default":[{"type":"insecureAcceptAnything"}]}',
    "/etc/containers/registries.conf": 'unqualified-search-registries = ["registry.access.redhat.com"]\n',
  };
  return [renderRendered(RENDERED, { osImageURL, files }), renderPoolOf(POOL, RENDERED)];
}

/** What the pool's image is made of: a text of its own for each architecture. */
export function renderConfig(pushSpec: string, texts: Readonly<Record<NodeArch, string>>): unknown {
  const containerFile = Object.entries(texts).map(([arch, content]) => ({
    containerfileArch: arch.toUpperCase(),
    content: `FROM configs AS final\n${content}\n`,
  }));
  const { repository = "", tag = "" } = /^(?<repository>.+):(?<tag>[^:]+)$/.exec(pushSpec)?.groups ?? {};
  return renderConfigOf({ pool: POOL, containerFile, pushSecret: PUSH_SECRET, tag }, repository);
}
