// The part of structural schemas that our CRDs use: what the API server accepts, and what it fills in. Held against the real
// API server by tests/cluster/crd_test.ts.
import * as z from "zod";
import { type ManifestObject, parseManifest } from "../../../manifests/generate/kustomize.ts";

const CRDS = new URL("../../../manifests/base/crds/", import.meta.url);

const SCHEMA = z.strictObject({
  type: z.enum(["object", "array", "string", "integer", "boolean"]),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown(),
  required: z.array(z.string()).optional(),
  items: z.unknown(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown(),
  format: z.enum(["int32", "int64", "date-time"]).optional(),
  minimum: z.int().optional(),
  maximum: z.int().optional(),
  minItems: z.int().optional(),
  maxItems: z.int().optional(),
  maxProperties: z.int().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  pattern: z.string().optional(),
  "x-kubernetes-map-type": z.literal("atomic").optional(),
  "x-kubernetes-list-type": z.literal("atomic").optional(),
}).partial();

export type Schema = z.infer<typeof SCHEMA>;

const DEFINITION = z.looseObject({
  spec: z.looseObject({
    names: z.looseObject({ kind: z.string(), plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), schema: z.object({ openAPIV3Schema: z.unknown() }) })),
  }),
});

export function readDefinitions(): readonly ManifestObject[] {
  return ["clusterpodplacementconfigs", "podplacementconfigs", "enoexecevents"].flatMap((name) =>
    parseManifest(Deno.readTextFileSync(new URL(`${name}.yaml`, CRDS)))
  );
}

/** The schema of a kind's version. Throws on a keyword that is not in the part above. */
export function readSchema(kind: string, version: string): Schema {
  for (const definition of readDefinitions()) {
    const { names, versions } = DEFINITION.parse(definition).spec;
    const found = versions.find(({ name }) => names.kind === kind && name === version);
    if (found !== undefined) return SCHEMA.parse(found.schema.openAPIV3Schema);
  }
  throw new Error(`Cannot find a schema of ${kind} ${version}`);
}

/** A member's schema by path. Throws when there is none. */
export function schemaAt(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((node, name) => {
    const next = name === "[]" ? node.items : node.properties?.[name];
    if (next === undefined) throw new Error(`Cannot find "${name}" of ${path.join(".")} in the schema`);
    return SCHEMA.parse(next);
  }, schema);
}

/** What is wrong with a value; empty when the API server accepts it. Unknown members are pruned, so they are right. */
export function findProblems(raw: unknown, value: unknown, path = ""): readonly string[] {
  const schema = SCHEMA.parse(raw);
  const problems = ownProblems(schema, value).map((problem) => `${path}: ${problem}`);
  if (problems.length > 0) return problems;
  if (Array.isArray(value)) return value.flatMap((item, at) => findProblems(schema.items, item, `${path}[${at}]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const child = schema.properties?.[name] ?? schema.additionalProperties;
    return child === undefined ? [] : findProblems(child, member, `${path}.${name}`);
  });
}

/** The value with defaults filled in, as it is stored. */
export function withDefaults(raw: unknown, value: unknown): unknown {
  const schema = SCHEMA.parse(raw);
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema.items, item));
  if (!isRecord(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const { default: fallback } = SCHEMA.parse(child);
    if (filled[name] === undefined && fallback !== undefined) filled[name] = fallback;
    if (filled[name] !== undefined) filled[name] = withDefaults(child, filled[name]);
  }
  return filled;
}

function ownProblems(schema: Schema, value: unknown): readonly string[] {
  const rules: readonly (readonly [string, boolean])[] = [
    ["type", schema.type === undefined || isOfType(schema.type, value)],
    ["enum", schema.enum === undefined || schema.enum.includes(value)],
    ["minimum", typeof value !== "number" || schema.minimum === undefined || value >= schema.minimum],
    ["maximum", typeof value !== "number" || schema.maximum === undefined || value <= schema.maximum],
    ["minItems", !Array.isArray(value) || value.length >= (schema.minItems ?? 0)],
    ["maxItems", !Array.isArray(value) || value.length <= (schema.maxItems ?? Infinity)],
    ["maxProperties", !isRecord(value) || Object.keys(value).length <= (schema.maxProperties ?? Infinity)],
    ["minLength", typeof value !== "string" || [...value].length >= (schema.minLength ?? 0)],
    ["maxLength", typeof value !== "string" || [...value].length <= (schema.maxLength ?? Infinity)],
    ["pattern", typeof value !== "string" || new RegExp(schema.pattern ?? "").test(value)],
    ["format", schema.format !== "date-time" || typeof value !== "string" || RFC_3339.test(value)],
    ["required", !isRecord(value) || (schema.required ?? []).every((name) => value[name] !== undefined)],
  ];
  return rules.filter(([, holds]) => !holds).map(([name]) => name);
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)$/;

function isOfType(type: NonNullable<Schema["type"]>, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  const found: string = typeof value;
  return found === type;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
