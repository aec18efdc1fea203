// The Helm chart as data: templates of the objects that kustomize renders for the base and for every feature. Pure.
import fastJsonPatch from "fast-json-patch";
import { EXTRA_ARGUMENT, NAMESPACE, placeholderOf, SETTINGS } from "./features.ts";
import { type ManifestObject, slugOf, toYaml } from "./kustomize.ts";
import { anyOf, type ConditionalLines, mergeLines, negate, type Variant } from "./merge_lines.ts";

/** What kustomize renders when a condition over the values holds. */
interface RenderedFeature {
  readonly condition: string;
  readonly objects: readonly ManifestObject[];
}

/** Everything that becomes templates. `withExtraArgument` is the base with {@link EXTRA_ARGUMENT} on the Deployment. */
export interface ChartSources {
  readonly base: readonly ManifestObject[];
  readonly withExtraArgument: readonly ManifestObject[];
  readonly features: readonly RenderedFeature[];
  readonly image: string;
}

/**
 * Helm leaves objects with this annotation in place: an uninstall of the chart must not delete the configs of users.
 */
export const KEEP_ANNOTATION = "helm.sh/resource-policy";

const NOTE = "# Generated from manifests/base and its overlays by `deno task helm`: change those instead.";

const RUNBOOK_BASE = "{{ .Values.runbookBaseUrl }}";

/** The templates by file name. A namespace is not among them: it is Helm's `--create-namespace`. */
export function renderTemplates(sources: ChartSources): ReadonlyMap<string, string> {
  const all = [sources.base, ...sources.features.map(({ objects }) => objects)].flat();
  const slugs = [...new Set(all.filter(({ kind }) => kind !== "Namespace").map(slugOf))].sort();
  return new Map(slugs.map((slug) => [`${slug}.yaml`, renderTemplate(slug, sources)]));
}

function renderTemplate(slug: string, sources: ChartSources): string {
  const linesIn = (objects: readonly ManifestObject[]): readonly string[] | undefined => {
    const object = objects.find((candidate) => slugOf(candidate) === slug);
    return object === undefined ? undefined : linesOf(object);
  };
  const base = linesIn(sources.base);
  const versions = sources.features.map(({ condition, objects }) => ({ condition, lines: linesIn(objects) }));
  const write = (runs: readonly ConditionalLines[]): readonly string[] =>
    runs.flatMap(renderRun).map((line) => fillIn(line, sources.image));
  if (base === undefined) {
    const having = versions.flatMap(({ condition, lines }) => lines === undefined ? [] : [{ condition, lines }]);
    const lines = having[0]?.lines ?? [];
    if (having.some((other) => other.lines.join() !== lines.join())) {
      throw new Error(`Cannot render "${slug}": features that add it differ in it. Make them the same.`);
    }
    const added = sources.features.flatMap(({ objects }) => objects).find((candidate) => slugOf(candidate) === slug);
    const merged = mergeLines(lines, settingsOf(added));
    return wrap(anyOf(having.map(({ condition }) => condition)), write(merged));
  }
  const lacking = versions.filter(({ lines }) => lines === undefined).map(({ condition }) => condition);
  const variants = versions.flatMap(({ condition, lines }) => lines === undefined ? [] : [{ condition, lines }]);
  const extra = { condition: EXTRA_ARGUMENT, lines: linesIn(sources.withExtraArgument) ?? base };
  const lines = write(mergeLines(base, [...variants, extra]));
  return wrap(lacking.length === 0 ? undefined : negate(anyOf(lacking)), lines);
}

/** Variants of a feature's Deployment, one for each setting that every Deployment has. */
function settingsOf(object: ManifestObject | undefined): readonly Variant[] {
  if (object?.kind !== "Deployment") return [];
  return SETTINGS.filter(({ isOfEvery }) => isOfEvery).map(({ value, path }) => ({
    condition: `.Values.${value}`,
    lines: withMember([object], { path, value: placeholderOf(value) }).flatMap(linesOf),
  }));
}

export function withMember(
  objects: readonly ManifestObject[],
  { path, value }: { readonly path: string; readonly value: string },
): readonly ManifestObject[] {
  return objects.map((object) =>
    object.kind === "Deployment"
      ? fastJsonPatch.applyPatch(structuredClone(object), [{ op: "add", path, value }]).newDocument
      : object
  );
}

function wrap(condition: string | undefined, lines: readonly string[]): string {
  const body = condition === undefined ? lines : [`{{- if ${condition} }}`, ...lines, "{{- end }}"];
  return [NOTE, ...body, ""].join("\n");
}

function renderRun({ condition, lines }: ConditionalLines): readonly string[] {
  const text = lines.map(escapeTemplate);
  if (condition === undefined) return text;
  if (condition !== EXTRA_ARGUMENT) return [`{{- if ${condition} }}`, ...text, "{{- end }}"];
  return [
    "{{- range .Values.extraArgs }}",
    ...text.map((line) => line.replace(EXTRA_ARGUMENT, "{{ . }}")),
    "{{- end }}",
  ];
}

/** Escapes braces that belong to the object: those of alerts, which Prometheus fills in. */
function escapeTemplate(line: string): string {
  return line.replaceAll(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`);
}

function fillIn(line: string, image: string): string {
  return line.replaceAll(NAMESPACE, "{{ .Release.Namespace }}")
    .replace(`image: ${image}`, "image: {{ .Values.image }}")
    .replace(/^ {2}replicas: \d+$/, "  replicas: {{ .Values.replicas }}")
    .replace(/--(\w+)-of-the-chart$/, "{{ toJson .Values.$1 }}")
    .replace(/^( +value: )registry\.example\.com\/archway-daemon:.*$/, "$1{{ .Values.execFormatImage }}")
    .replace(/^( +imageBuilds: )\{\}$/, "$1{{ toJson .Values.imageBuildsSettings }}")
    .replace(/^( +archway\.dev\/runbook-base-url: )""$/, `$1"${RUNBOOK_BASE}"`)
    .replace(/^( +runbook_url: )(.*)$/, `$1"${RUNBOOK_BASE}$2"`);
}

function linesOf(object: ManifestObject): readonly string[] {
  const { metadata } = object;
  const kept = object.kind === "CustomResourceDefinition"
    ? { ...object, metadata: { ...metadata, annotations: { ...annotationsOf(metadata), [KEEP_ANNOTATION]: "keep" } } }
    : object;
  return toYaml(kept).trimEnd().split("\n");
}

function annotationsOf(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { annotations } = metadata;
  return typeof annotations === "object" && annotations !== null ? Object.fromEntries(Object.entries(annotations)) : {};
}
