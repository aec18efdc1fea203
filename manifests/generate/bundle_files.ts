// Archway's OLM bundle (registry+v1) and the file-based catalog that names it, as files: path → text. Pure.
import { stringify } from "yaml";
import * as z from "zod";
import { type BundleSources, OLM_SERVICE, OLM_SETTINGS, PACKAGE, renderCsv } from "./bundle_csv.ts";
import { type ManifestObject, slugOf } from "./kustomize.ts";

export const CHANNEL = "stable";

export interface BundleFileSources extends BundleSources {
  /** Where the bundle's image will be; best by digest. */
  readonly bundleImage: string;
}

const BUNDLE = "operators.operatorframework.io.bundle";

const ANNOTATIONS: Readonly<Record<string, string>> = {
  [`${BUNDLE}.mediatype.v1`]: "registry+v1",
  [`${BUNDLE}.manifests.v1`]: "manifests/",
  [`${BUNDLE}.metadata.v1`]: "metadata/",
  [`${BUNDLE}.package.v1`]: PACKAGE,
  [`${BUNDLE}.channels.v1`]: CHANNEL,
  [`${BUNDLE}.channel.default.v1`]: CHANNEL,
};

/** Kinds of the base that are shipped as they are. The CSV stands for most others; OLM accepts no NetworkPolicy. */
const SHIPPED: readonly string[] = ["CustomResourceDefinition", "PodDisruptionBudget", "Service", "ClusterRole"];

const CSV_SPEC = z.looseObject({
  version: z.string(),
  relatedImages: z.array(z.object({ name: z.string(), image: z.string() })),
  customresourcedefinitions: z.object({
    owned: z.array(z.looseObject({ kind: z.string(), version: z.string() })),
  }),
});

export function renderBundleFiles(sources: BundleFileSources): ReadonlyMap<string, string> {
  const csv = renderCsv(sources);
  const manifests = [csv, renderSettings(), ...shippedObjects(sources.objects)];
  return new Map([
    ...manifests.map((object) => [`bundle/manifests/${slugOf(object)}.yaml`, toYaml(object)] as const),
    ["bundle/metadata/annotations.yaml", toYaml({ annotations: ANNOTATIONS })],
    [`catalog/${PACKAGE}/catalog.yaml`, renderCatalog(csv, sources).map((blob) => `---\n${toYaml(blob)}`).join("")],
    ["bundle.Containerfile", renderBundleContainerfile()],
    ["catalog.Containerfile", CATALOG_CONTAINERFILE],
  ]);
}

/** What is installed beside the CSV. Without a namespace: OLM sets that of the installation. */
function shippedObjects(objects: readonly ManifestObject[]): readonly ManifestObject[] {
  const bound = new Set(
    objects.filter(({ kind }) => kind === "ClusterRoleBinding").map(({ metadata }) => metadata.name),
  );
  return objects
    .filter(({ kind, metadata }) =>
      SHIPPED.includes(kind) &&
      // OLM makes the Service of the webhooks, and the roles of the account.
      metadata.name !== "archway-webhook" && !(kind === "ClusterRole" && bound.has(metadata.name))
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

function renderSettings(): ManifestObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: OLM_SETTINGS, labels: { "app.kubernetes.io/part-of": "archway" } },
    // OLM writes the paths of the checks, so they cannot be secret.
    data: { "archway.yaml": `webhookService: ${OLM_SERVICE}\nwebhookPath: plain\n` },
  };
}

function renderCatalog(csv: ManifestObject, { bundleImage, image }: BundleFileSources): readonly unknown[] {
  const { version, relatedImages: _related, install: _install, webhookdefinitions: _webhooks, ...spec } = CSV_SPEC
    .parse(csv.spec);
  const { customresourcedefinitions: definitions, ...described } = spec;
  const { name } = csv.metadata;
  const { labels, annotations } = csv.metadata;
  const kinds = definitions.owned.map(({ kind, version: of }) => ({
    type: "olm.gvk",
    value: { group: "multiarch.openshift.io", kind, version: of },
  }));
  return [
    { schema: "olm.package", name: PACKAGE, defaultChannel: CHANNEL, description: spec.description },
    { schema: "olm.channel", package: PACKAGE, name: CHANNEL, entries: [{ name }] },
    {
      schema: "olm.bundle",
      package: PACKAGE,
      name,
      image: bundleImage,
      properties: [
        { type: "olm.package", value: { packageName: PACKAGE, version } },
        ...kinds,
        {
          type: "olm.csv.metadata",
          value: { annotations, labels, apiServiceDefinitions: {}, crdDescriptions: definitions, ...described },
        },
      ],
      relatedImages: [{ name: "bundle", image: bundleImage }, { name: "archway", image }],
    },
  ];
}

function renderBundleContainerfile(): string {
  const labels = Object.entries(ANNOTATIONS).map(([key, value]) => `LABEL ${key}=${value}`);
  return ["FROM scratch", ...labels, "COPY bundle/manifests /manifests/", "COPY bundle/metadata /metadata/", ""].join(
    "\n",
  );
}

/** For a CatalogSource with `grpcPodConfig.extractContent`: the server comes from OLM, so that nothing has to run in it. */
const CATALOG_CONTAINERFILE = [
  "FROM scratch",
  "LABEL operators.operatorframework.io.index.configs.v1=/configs",
  "COPY catalog /configs/",
  "",
].join("\n");

function toYaml(value: unknown): string {
  return stringify(value, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
}
