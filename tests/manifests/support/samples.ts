// Generated configurations, right and wrong, for the tests of the CRDs.
import fc from "fast-check";

const ARCHITECTURE = fc.constantFrom("amd64", "arm64", "ppc64le", "s390x");
const WORD = fc.stringMatching(/^[a-z]{1,8}$/);
const VALUE = fc.oneof(WORD, fc.integer({ min: -300, max: 300 }), fc.boolean(), fc.constantFrom("", [], {}, ["a"]));

const SELECTOR = fc.record({
  matchLabels: fc.dictionary(WORD, WORD, { maxKeys: 2 }),
  matchExpressions: fc.array(
    fc.oneof(
      fc.record({ key: WORD, operator: fc.constantFrom("Exists", "DoesNotExist") }),
      fc.record({ key: WORD, operator: fc.constantFrom("In", "NotIn"), values: fc.array(WORD, { minLength: 1 }) }),
    ),
    { maxLength: 2 },
  ),
}, { requiredKeys: [] });

const SCORING = fc.record({
  enabled: fc.boolean(),
  platforms: fc.uniqueArray(
    fc.record({ architecture: ARCHITECTURE, weight: fc.integer({ min: 1, max: 100 }) }),
    { minLength: 1, maxLength: 4, selector: ({ architecture }) => architecture },
  ),
});

const FALLBACK = fc.oneof(ARCHITECTURE, fc.constant(""));

/** A spec of a ClusterPodPlacementConfig that says what may be said. */
export const CLUSTER_SPEC: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.record({
  logVerbosity: fc.constantFrom("Normal", "Debug", "Trace", "TraceAll"),
  namespaceSelector: SELECTOR,
  fallbackArchitecture: FALLBACK,
  plugins: fc.record({
    nodeAffinityScoring: SCORING,
    execFormatErrorMonitor: fc.record({ enabled: fc.boolean() }),
  }, { requiredKeys: [] }),
}, { requiredKeys: [] });

/** A spec of a PodPlacementConfig that says what may be said. */
export const NAMESPACE_SPEC: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.record({
  labelSelector: SELECTOR,
  priority: fc.integer({ min: 0, max: 255 }),
  fallbackArchitecture: FALLBACK,
  plugins: fc.record({ nodeAffinityScoring: SCORING }, { requiredKeys: [] }),
}, { requiredKeys: ["plugins"] });

/** A spec with one member, somewhere, replaced or taken away: it may still be right. */
export function disturbed(spec: fc.Arbitrary<Readonly<Record<string, unknown>>>): fc.Arbitrary<unknown> {
  return fc.record({ spec, at: fc.nat(1_000), value: fc.option(VALUE, { nil: undefined, freq: 4 }) })
    .map(({ spec, at, value }) => {
      const paths = pathsOf(spec);
      const path = paths[at % Math.max(1, paths.length)];
      return path === undefined ? spec : replaced(spec, path, value);
    });
}

function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [[name], ...pathsOf(member).map((rest) => [name, ...rest])]);
}

function replaced(value: unknown, [name = "", ...rest]: readonly string[], by: unknown): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) =>
      String(at) !== name ? [item] : rest.length > 0 ? [replaced(item, rest, by)] : by === undefined ? [] : [by]
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (key !== name) return [[key, member]];
      if (rest.length > 0) return [[key, replaced(member, rest, by)]];
      return by === undefined ? [] : [[key, by]];
    }),
  );
}

interface Bounds {
  readonly labels: number;
  readonly expressions: number;
  readonly values: number;
}

/** What the schema of PodPlacementConfig allows in its selector. */
export const SCHEMA_BOUNDS: Bounds = { labels: 16, expressions: 8, values: 32 };

/** Label selectors at the bounds `labels`, `expressions`, `values`, and one beyond each of them, by what they have too many of. */
export function selectorsAround(
  bounds: Bounds,
): { readonly within: unknown; readonly beyond: readonly (readonly [what: string, selector: unknown])[] } {
  const { labels, expressions, values } = bounds;
  const words = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at}`);
  const sized = (one: Bounds): unknown => ({
    matchLabels: Object.fromEntries(words(one.labels).map((word) => [word, "x".repeat(63)])),
    matchExpressions: words(one.expressions).map((key, at) => ({
      ...{ key, operator: "NotIn" },
      values: words(at === 0 ? one.values : 1),
    })),
  });
  return {
    within: sized(bounds),
    beyond: [
      ["labels", sized({ ...bounds, labels: labels + 1 })],
      ["expressions", sized({ ...bounds, expressions: expressions + 1 })],
      ["values", sized({ ...bounds, expressions: 1, values: values + 1 })],
      ["characters of a label's value", { matchLabels: { a: "x".repeat(64) } }],
      ["characters of a key", {
        matchExpressions: [{ key: `${"p".repeat(254)}/${"n".repeat(63)}`, operator: "Exists" }],
      }],
      ["characters of an operator", { matchExpressions: [{ key: "a", operator: "Exists".padEnd(40, "s") }] }],
      ["characters of a value", { matchExpressions: [{ key: "a", operator: "In", values: ["x".repeat(64)] }] }],
    ],
  };
}
