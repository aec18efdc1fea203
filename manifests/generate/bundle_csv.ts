// The ClusterServiceVersion of Archway's OLM bundle, made of the objects that kustomize renders. Pure.
import * as z from "zod";
import { NAMESPACE } from "./features.ts";
import type { ManifestObject } from "./kustomize.ts";

/** What the CSV is made of: the base with its certificate from files, and what differs from build to build. */
export interface BundleSources {
  readonly objects: readonly ManifestObject[];
  readonly version: string;
  /** Of the service; best by digest. */
  readonly image: string;
}

/** OLM puts a Service of this name in front of the Deployment `archway`, and its certificate into a Secret named after it. */
export const OLM_SERVICE = "archway-service";

/** The ConfigMap with the file of settings that the bundle brings. */
export const OLM_SETTINGS = "archway-olm";

/** Name of the package and beginning of the name of each version. */
export const PACKAGE = "archway";

const RULES = z.array(z.looseObject({ verbs: z.array(z.string()) }));
const ROLE = z.object({ rules: RULES });
const BINDING = z.object({
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(z.object({ kind: z.string(), name: z.string(), namespace: z.string() })),
});
const WEBHOOKS = z.object({
  webhooks: z.array(z.looseObject({
    name: z.string(),
    clientConfig: z.object({ service: z.object({ path: z.string() }) }),
    failurePolicy: z.string(),
    sideEffects: z.string(),
    admissionReviewVersions: z.array(z.string()),
    rules: z.array(z.unknown()),
  })),
});
const DEFINITION = z.object({
  spec: z.object({
    names: z.object({ kind: z.string() }),
    versions: z.array(z.object({
      name: z.string(),
      storage: z.boolean(),
      schema: z.object({ openAPIV3Schema: z.object({ description: z.string() }) }),
    })),
  }),
});
const DEPLOYMENT = z.object({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([
          z.looseObject({ image: z.string(), args: z.array(z.string()), volumeMounts: z.array(z.unknown()) }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

const DESCRIPTION =
  `Archway makes a cluster of mixed CPU architectures behave like one pool: it asks the registries which
architectures the images of a new pod support, and places the pod only where all of them run. It replaces the Multiarch
Tuning Operator: same API group, scheduling gate, labels, events and metrics.

After the installation create the ClusterPodPlacementConfig \`cluster\`; before you uninstall, delete it.`;

/** A config that the console offers. */
const EXAMPLE = {
  apiVersion: "multiarch.openshift.io/v1beta1",
  kind: "ClusterPodPlacementConfig",
  metadata: { name: "cluster" },
  spec: {
    logVerbosity: "Normal",
    namespaceSelector: {
      matchExpressions: [{ key: "multiarch.openshift.io/exclude-pod-placement", operator: "DoesNotExist" }],
    },
  },
};

/** One of every kind that people write; the console offers them. */
const EXAMPLES = [
  EXAMPLE,
  {
    apiVersion: "multiarch.openshift.io/v1alpha1",
    kind: "ClusterPodPlacementConfig",
    metadata: { name: "cluster" },
    spec: { logVerbosity: "Normal" },
  },
  {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "PodPlacementConfig",
    metadata: { name: "prefer-arm64" },
    spec: {
      priority: 10,
      labelSelector: { matchLabels: { app: "web" } },
      plugins: { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] } },
    },
  },
];

const NAMESPACE_TEMPLATE = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
};

export function imageOf(objects: readonly ManifestObject[]): string {
  const [deployment] = ofKind(objects, "Deployment");
  return DEPLOYMENT.parse(deployment).spec.template.spec.containers[0].image;
}

/** Renders it. Throws on a base that it cannot express. */
export function renderCsv(sources: BundleSources): ManifestObject {
  const { objects, version, image } = sources;
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `${PACKAGE}.v${version}`,
      // OLM sets the namespace of the installation.
      namespace: "placeholder",
      labels: {
        "operatorframework.io/os.linux": "supported",
        "operatorframework.io/arch.amd64": "supported",
        "operatorframework.io/arch.arm64": "supported",
      },
      annotations: {
        "alm-examples": JSON.stringify(EXAMPLES),
        "capabilities": "Seamless Upgrades",
        "containerImage": image,
        "description": "Places pods on the CPU architectures that all of their images support.",
        "operatorframework.io/initialization-resource": JSON.stringify(EXAMPLE),
        "operators.operatorframework.io/internal-objects": JSON.stringify(["enoexecevents.multiarch.openshift.io"]),
        "operatorframework.io/suggested-namespace": NAMESPACE,
        "operatorframework.io/suggested-namespace-template": JSON.stringify(NAMESPACE_TEMPLATE),
      },
    },
    spec: {
      displayName: "Archway",
      description: DESCRIPTION,
      version,
      maturity: "alpha",
      minKubeVersion: "1.30.0",
      keywords: ["multi-arch", "arm64", "architecture", "scheduling"],
      provider: { name: "Archway" },
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
        type,
        supported: type === "AllNamespaces",
      })),
      customresourcedefinitions: { owned: definitionsOf(objects) },
      install: {
        strategy: "deployment",
        spec: {
          clusterPermissions: permissionsOf(objects, "ClusterRole"),
          permissions: permissionsOf(objects, "Role"),
          deployments: [renderDeployment(objects, image)],
        },
      },
      webhookdefinitions: [...checksOf(objects), CONVERSION],
      relatedImages: [{ name: "archway", image }],
    },
  };
}

function ofKind(objects: readonly ManifestObject[], kind: string): readonly ManifestObject[] {
  return objects.filter((object) => object.kind === kind);
}

function definitionsOf(objects: readonly ManifestObject[]): readonly unknown[] {
  return ofKind(objects, "CustomResourceDefinition").flatMap((object) => {
    const { names: { kind }, versions } = DEFINITION.parse(object).spec;
    return versions.map(({ name: version, schema }) => ({
      name: object.metadata.name,
      kind,
      version,
      displayName: kind,
      description: schema.openAPIV3Schema.description,
    }));
  });
}

/** The rules that bindings give to Archway's account, one entry for all of a kind: OLM makes roles of its own of them. */
function permissionsOf(objects: readonly ManifestObject[], kind: "ClusterRole" | "Role"): readonly unknown[] {
  const rules = ofKind(objects, `${kind}Binding`).flatMap((object) => {
    const { roleRef, subjects } = BINDING.parse(object);
    const isOurs = subjects.length === 1 && subjects[0]?.name === "archway" && subjects[0].namespace === NAMESPACE;
    if (!isOurs || roleRef.kind !== kind || (kind === "Role" && object.metadata.namespace !== NAMESPACE)) {
      throw new Error(`Cannot render ${object.kind} "${object.metadata.name}": a CSV grants to its own account alone.`);
    }
    const role = ofKind(objects, kind).find(({ metadata }) => metadata.name === roleRef.name);
    return ROLE.parse(role).rules;
  });
  return [{ serviceAccountName: "archway", rules }];
}

/**
 * The Deployment of the base, served with the certificate that OLM makes. The CA is in the same Secret, so that the
 * running service can write it into the webhook configuration that it keeps itself.
 */
function renderDeployment(objects: readonly ManifestObject[], image: string): unknown {
  const [deployment] = ofKind(objects, "Deployment");
  const { spec } = DEPLOYMENT.parse(deployment);
  const { spec: pod } = spec.template;
  const [container] = pod.containers;
  const items = [["tls.crt", "tls.crt"], ["tls.key", "tls.key"], ["olmCAKey", "ca.crt"]];
  const tls = {
    name: "tls",
    secret: { secretName: `${OLM_SERVICE}-cert`, items: items.map(([key, path]) => ({ key, path })) },
  };
  const settings = { name: "settings", configMap: { name: OLM_SETTINGS } };
  return {
    name: "archway",
    label: { "app.kubernetes.io/part-of": "archway" },
    spec: {
      ...spec,
      template: {
        ...spec.template,
        spec: {
          ...pod,
          containers: [{
            ...container,
            image,
            args: [
              ...container.args,
              "--tls-ca=/etc/archway/tls/ca.crt",
              "--config=/etc/archway/settings/archway.yaml",
            ],
            volumeMounts: [
              ...container.volumeMounts,
              { name: settings.name, mountPath: "/etc/archway/settings", readOnly: true },
            ],
          }],
          volumes: [...pod.volumes.filter(({ name }) => name !== tls.name), tls, settings],
        },
      },
    },
  };
}

/** Where OLM's Service leads: the webhook port of the container. */
const ADDRESS = { deploymentName: "archway", containerPort: 443, targetPort: 9443 };

const CONVERSION = {
  type: "ConversionWebhook",
  generateName: "convert.clusterpodplacementconfigs.multiarch.openshift.io",
  ...ADDRESS,
  webhookPath: "/convert",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  conversionCRDs: ["clusterpodplacementconfigs.multiarch.openshift.io"],
};

function checksOf(objects: readonly ManifestObject[]): readonly unknown[] {
  return ofKind(objects, "ValidatingWebhookConfiguration").flatMap((object) =>
    WEBHOOKS.parse(object).webhooks.map(({ name, clientConfig, ...webhook }) => ({
      type: "ValidatingAdmissionWebhook",
      generateName: name,
      ...ADDRESS,
      webhookPath: clientConfig.service.path,
      failurePolicy: webhook.failurePolicy,
      sideEffects: webhook.sideEffects,
      admissionReviewVersions: webhook.admissionReviewVersions,
      rules: webhook.rules,
    }))
  );
}
