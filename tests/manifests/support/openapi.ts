// The part of structural schemas that our CRDs use: what the API server accepts, and what it fills in. Held against the real
// API server by tests/cluster/crd_test.ts.
import * as z from "zod";
import { isObject } from "../../../lib/json.ts";
import { type ManifestObject, parseManifest } from "../../../manifests/generate/kustomize.ts";

const CRDS = new URL("../../../manifests/base/crds/", import.meta.url);

const SCHEMA = z.strictObject({
  type: z.enum(["object", "array", "string", "integer", "boolean"]).optional(),
  description: z.string().optional(),
  get properties() {
    return z.record(z.string(), SCHEMA).optional();
  },
  get additionalProperties() {
    return SCHEMA.optional();
  },
  required: z.array(z.string()).optional(),
  get items() {
    return SCHEMA.optional();
  },
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
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
});

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
    return next;
  }, schema);
}

const compiled = new WeakMap<Schema, z.ZodType>();

/** What is wrong with a value; empty when the API server accepts it. Unknown members are pruned, so they are right. */
export function findProblems(schema: Schema, value: unknown): readonly string[] {
  const type = compiled.get(schema) ?? z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  compiled.set(schema, type);
  return type.safeParse(value).error?.issues.map(({ path, code }) => `.${path.join(".")}: ${code}`) ?? [];
}

/** The value with defaults filled in, as it is stored. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => schema.items === undefined ? item : withDefaults(schema.items, item));
  }
  if (!isObject(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    filled[name] ??= child.default;
    if (filled[name] !== undefined) filled[name] = withDefaults(child, filled[name]);
  }
  return filled;
}
