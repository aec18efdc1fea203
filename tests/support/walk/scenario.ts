// One pod, and how it must end after its walk.
import assert from "node:assert/strict";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { API_GROUP } from "../../../lib/names.ts";
import { type JsonObject, listAtPath, numberAtPath, objectAtPath, textAtPath } from "../../../playground/json_path.ts";
import type { Fate, WalkSubject } from "./subject.ts";

/** Final values of the three labels; undefined: not there. */
export interface Expected {
  readonly gate: string | undefined;
  readonly required?: string | undefined;
  readonly preferred?: string | undefined;
  /** Labels of architectures, without the group. */
  readonly architectures?: readonly string[];
  /** Required terms, each written `key In a,b & key Exists`. */
  readonly terms?: readonly string[];
  /** Preferred terms, each written `key In a:weight`. */
  readonly weights?: readonly string[];
  /** Annotation of the preferences' sources, whole. */
  readonly sources?: string;
  /** Other labels, without the group. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Scenario {
  /** Ids of rows first. */
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Kind of its controller. */
  readonly owner?: string;
  readonly images: readonly string[];
  readonly spec?: JsonObject;
  /** Added to each container. */
  readonly container?: JsonObject;
  readonly expect: Expected;
  /** Default: if it is placed it runs on one of the architectures that it is placed on. */
  readonly fate?: Fate;
}

const ARCH_LABELS = ["multi-arch", "single-arch", "no-supported-arch", "amd64", "arm64", "ppc64le", "s390x"];

/** `kubernetes.io/arch In …`. */
export function archIn(...architectures: readonly string[]): string {
  return `kubernetes.io/arch In ${architectures.join(",")}`;
}

/** A node selector term of one expression, from `key In a,b` or `key Exists`. */
export function term(text: string): JsonObject {
  const [key = "", operator = "", values] = text.split(" ");
  const list = values === undefined ? {} : { values: values.split(",") };
  return { matchExpressions: [{ key, operator, ...list }] };
}

/** The affinity of a pod from required terms and one preferred term. */
export function affinity(required: readonly string[], preferred?: readonly [string, number]): JsonObject {
  const terms = { nodeSelectorTerms: required.map(term) };
  const scored = preferred === undefined ? [] : [{ weight: preferred[1], preference: term(preferred[0]) }];
  return {
    affinity: {
      nodeAffinity: {
        ...(required.length === 0 ? {} : { requiredDuringSchedulingIgnoredDuringExecution: terms }),
        ...(scored.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: scored }),
      },
    },
  };
}

function renderTerm(value: unknown): string {
  return ["matchFields", "matchExpressions"].flatMap((field) => listAtPath(value, field))
    .map((each) =>
      `${textAtPath(each, "key")} ${textAtPath(each, "operator")} ${listAtPath(each, "values").join(",")}`.trimEnd()
    )
    .join(" & ");
}

/** Reads a pod the way {@link Expected} is written. */
function readEnd(pod: KubeObject, expected: Expected): Expected {
  const labels = objectAtPath(pod, "metadata", "labels");
  const label = (name: string): string | undefined => textAtPath(labels, `${API_GROUP}/${name}`);
  const nodeAffinity = objectAtPath(pod, "spec", "affinity", "nodeAffinity");
  const terms = listAtPath(nodeAffinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  const weights = listAtPath(nodeAffinity, "preferredDuringSchedulingIgnoredDuringExecution");
  const sources = textAtPath(pod, "metadata", "annotations", `${API_GROUP}/preferred-affinity-sources`);
  return {
    gate: label("scheduling-gate"),
    required: label("node-affinity"),
    preferred: label("preferred-node-affinity"),
    architectures: ARCH_LABELS.filter((name) => label(name) !== undefined),
    terms: terms.map(renderTerm),
    weights: weights.map((each) => `${renderTerm(objectAtPath(each, "preference"))}:${numberAtPath(each, "weight")}`),
    ...(expected.sources === undefined ? {} : { sources: sources ?? "" }),
    ...(expected.labels === undefined
      ? {}
      : { labels: Object.fromEntries(Object.keys(expected.labels).map((name) => [name, label(name) ?? "absent"])) }),
  };
}

function podOf({ labels, annotations, owner, images, spec, container }: Scenario, name: string): JsonObject {
  const controller = { apiVersion: "apps/v1", kind: owner ?? "", name: "owner", uid: "u", controller: true };
  return {
    metadata: {
      name,
      labels: { ...labels },
      annotations: { ...annotations },
      ...(owner === undefined ? {} : { ownerReferences: [controller] }),
    },
    spec: { ...spec, containers: images.map((image, index) => ({ name: `c${index}`, image, ...container })) },
  };
}

/** What becomes of a pod that ends like this; nothing is said of one that was not placed. */
function fateOf({ required, architectures = [] }: Expected): Fate | undefined {
  if (required !== "set") return undefined;
  return { kind: "runs", on: architectures.filter((name) => !name.endsWith("-arch")) };
}

/** Creates all pods, waits until each is decided, and checks each in a step of its own. */
export async function walkAll(t: Deno.TestContext, walk: WalkSubject, scenarios: readonly Scenario[]): Promise<void> {
  const named = scenarios.map((scenario, index) => ({
    scenario,
    namespace: scenario.namespace ?? "walk",
    name: `pod-${index}`,
  }));
  for (const { scenario, namespace, name } of named) {
    await walk.create("Pod", podOf(scenario, name), namespace);
  }
  for (const { scenario, namespace, name } of named) {
    await t.step(scenario.name, async () => {
      await walk.until("it is decided", async () => await walk.decided(namespace, name) !== undefined);
      const pod = await walk.decided(namespace, name);
      assert.ok(pod !== undefined);
      const nothing = { required: undefined, preferred: undefined, architectures: [], terms: [], weights: [] };
      assert.deepEqual(readEnd(pod, scenario.expect), { ...nothing, ...scenario.expect });
      for (const [key, value] of Object.entries(scenario.annotations ?? {})) {
        assert.equal(textAtPath(pod, "metadata", "annotations", key), value);
      }
      const fate = scenario.fate ?? fateOf(scenario.expect);
      if (fate !== undefined) await walk.assertFate?.({ namespace, name }, fate);
    });
  }
}
