// Archway's OLM bundle (registry+v1) and file-based catalog as files, path → text, beside those of manifests/olm. Pure.
import * as z from "zod";
import { NAMESPACE } from "./features.ts";
import { type ManifestObject, ofKind, slugOf, toYaml } from "./kustomize.ts";

interface BundleSources {
  /** The base with the components for OLM, and with the image. */
  readonly objects: readonly ManifestObject[];
  /** The ClusterServiceVersion without what follows from the objects. */
  readonly csv: ManifestObject;
  readonly version: string;
  readonly image: string;
  /** Where the bundle's image will be; best by digest. */
  readonly bundleImage: string;
}

const PACKAGE = "archway";
const CHANNEL = "stable";

/** Kinds of the base that are shipped as they are. The CSV stands for most others; OLM accepts no NetworkPolicy. */
const SHIPPED = ["CustomResourceDefinition", "PodDisruptionBudget", "Service", "ClusterRole", "ConfigMap"];

const ROLE = z.object({ rules: z.array(z.looseObject({ verbs: z.array(z.string()) })) });
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
  names: z.object({ kind: z.string() }),
  versions: z.array(z.object({
    name: z.string(),
    schema: z.object({ openAPIV3Schema: z.object({ description: z.string() }) }),
  })),
});
const CSV_SPEC = z.looseObject({ webhookdefinitions: z.array(z.unknown()) });

export function renderBundleFiles(sources: BundleSources): ReadonlyMap<string, string> {
  const manifests = [renderCsv(sources), ...shippedObjects(sources.objects)];
  return new Map([
    ...manifests.map((object) => [`bundle/manifests/${slugOf(object)}.yaml`, toYaml(object)] as const),
    [`catalog/${PACKAGE}/catalog.yaml`, renderCatalog(sources).map((blob) => `---\n${toYaml(blob)}`).join("")],
  ]);
}

/** Throws on a base that it cannot express. */
function renderCsv({ csv, objects, version, image }: BundleSources): ManifestObject {
  const { webhookdefinitions, ...spec } = CSV_SPEC.parse(csv.spec);
  const [deployment] = ofKind(objects, "Deployment");
  return {
    ...csv,
    metadata: describe(csv, { version, image }),
    spec: {
      ...spec,
      version,
      customresourcedefinitions: { owned: definitionsOf(objects) },
      install: {
        strategy: "deployment",
        spec: {
          clusterPermissions: permissionsOf(objects, "ClusterRole"),
          permissions: permissionsOf(objects, "Role"),
          deployments: [{
            name: "archway",
            label: { "app.kubernetes.io/part-of": "archway" },
            spec: deployment?.spec,
          }],
        },
      },
      webhookdefinitions: [...checksOf(objects), ...webhookdefinitions],
      relatedImages: [{ name: "archway", image }],
    },
  };
}

function describe(
  { metadata }: ManifestObject,
  { version, image }: Pick<BundleSources, "version" | "image">,
): ManifestObject["metadata"] {
  const annotations = { ...Object(metadata["annotations"]), containerImage: image };
  return { ...metadata, name: `${PACKAGE}.v${version}`, annotations };
}

interface OwnedDefinition {
  readonly name: string;
  readonly kind: string;
  readonly version: string;
  readonly displayName: string;
  readonly description: string;
}

function definitionsOf(objects: readonly ManifestObject[]): readonly OwnedDefinition[] {
  return ofKind(objects, "CustomResourceDefinition").flatMap(({ metadata: { name }, spec }) => {
    const { names: { kind }, versions } = DEFINITION.parse(spec);
    return versions.map(({ name: version, schema: { openAPIV3Schema: { description } } }) => ({
      name,
      kind,
      version,
      displayName: kind,
      description,
    }));
  });
}

/**
 * The rules that bindings give to Archway's account, one entry for all of a kind: OLM makes roles of its own of them.
 */
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

/** The webhook port of the container, where OLM's Service leads. */
const ADDRESS = { deploymentName: "archway", containerPort: 443, targetPort: 9443 };

function checksOf(objects: readonly ManifestObject[]): readonly unknown[] {
  return ofKind(objects, "ValidatingWebhookConfiguration").flatMap((object) =>
    WEBHOOKS.parse(object).webhooks.map(({ name: generateName, clientConfig, ...webhook }) => {
      const { failurePolicy, sideEffects, admissionReviewVersions, rules } = webhook;
      return {
        type: "ValidatingAdmissionWebhook",
        webhookPath: clientConfig.service.path,
        generateName,
        ...ADDRESS,
        failurePolicy,
        sideEffects,
        admissionReviewVersions,
        rules,
      };
    })
  );
}

/** What is installed beside the CSV. Without a namespace: OLM sets that of the installation. */
function shippedObjects(objects: readonly ManifestObject[]): readonly ManifestObject[] {
  const bound = ofKind(objects, "ClusterRoleBinding").map(({ metadata }) => metadata.name);
  return objects
    .filter(({ kind, metadata }) =>
      SHIPPED.includes(kind) &&
      // OLM makes the Service of the webhooks, and the roles of the account.
      metadata.name !== "archway-webhook" && !(kind === "ClusterRole" && bound.includes(metadata.name))
    )
    .map(({ metadata: { namespace: _namespace, ...metadata }, ...object }) =>
      withoutConversion({ ...object, metadata })
    );
}

/** Conversion is described in the CSV; OLM writes it into the definition. */
function withoutConversion(object: ManifestObject): ManifestObject {
  if (object.kind !== "CustomResourceDefinition") return object;
  const { conversion: _conversion, ...spec } = z.looseObject({}).parse(object.spec);
  return { ...object, spec };
}

function renderCatalog(sources: BundleSources): readonly unknown[] {
  const { csv, objects, version, bundleImage, image } = sources;
  const { webhookdefinitions: _webhooks, ...described } = CSV_SPEC.parse(csv.spec);
  const { name, labels, annotations } = describe(csv, sources);
  const owned = definitionsOf(objects);
  const kinds = owned.map(({ kind, version: of }) => ({
    type: "olm.gvk",
    value: { group: "multiarch.openshift.io", kind, version: of },
  }));
  const value = { annotations, labels, apiServiceDefinitions: {}, crdDescriptions: { owned }, ...described };
  return [
    { schema: "olm.package", name: PACKAGE, defaultChannel: CHANNEL, description: described["description"] },
    { schema: "olm.channel", package: PACKAGE, name: CHANNEL, entries: [{ name }] },
    {
      schema: "olm.bundle",
      package: PACKAGE,
      name,
      image: bundleImage,
      properties: [
        { type: "olm.package", value: { packageName: PACKAGE, version } },
        ...kinds,
        { type: "olm.csv.metadata", value },
      ],
      relatedImages: [{ name: "bundle", image: bundleImage }, { name: "archway", image }],
    },
  ];
}
