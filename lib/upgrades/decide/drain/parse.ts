// What drain help reads of pods and PodDisruptionBudgets. Users can create many large ones, so what is kept is bounded.
import type { DisruptionBudget } from "../../../vocabulary/disruption_budget.ts";
import { objectAt, textAt } from "../../../json.ts";
import { type LabelSelector, matchesSelector } from "../../../vocabulary/label_selector.ts";
import type { KubeObject, ObjectMeta } from "../../../k8s/types.ts";
import type { DrainBudgets, DrainPod } from "./types.ts";

const MIRROR = "kubernetes.io/config.mirror";
/** Bytes of all budgets' selectors as JSON, enough for some 30 000 ordinary ones. */
const MAX_BUDGET_BYTES = 4 * 2 ** 20;

/** Undefined for a pod that is not on the node, that a drain ignores, or that is in an ignored namespace. */
export function parseDrainPod(
  object: KubeObject,
  { node, budgets, ignoredNamespaces }: {
    readonly node: string;
    readonly budgets: DrainBudgets;
    readonly ignoredNamespaces: readonly RegExp[];
  },
): DrainPod | undefined {
  const { metadata } = object;
  const { namespace = "", name, uid = "", labels } = metadata;
  if (textAt(objectAt(object, "spec"), "nodeName") !== node || isIgnoredByDrain(metadata)) return undefined;
  if (ignoredNamespaces.some((pattern) => pattern.test(namespace))) return undefined;
  return {
    namespace,
    name,
    uid,
    isTerminating: metadata.deletionTimestamp !== undefined,
    hasFinalizers: (metadata.finalizers ?? []).length > 0,
    isProtected: (budgets.get(namespace) ?? []).some((selector) => matchesSelector(selector, labels)),
  };
}

/** Whether the pod is a mirror pod, or its controller (not just any owner) is a DaemonSet. */
function isIgnoredByDrain({ ownerReferences = [], annotations = {} }: ObjectMeta): boolean {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return controller?.kind === "DaemonSet" || annotations[MIRROR] !== undefined;
}

interface NamespaceBudgets {
  readonly selectors: LabelSelector[];
  bytes: number;
  /** All pods of the namespace count as protected, so that no selector is added any more. */
  readonly protectsAll: boolean;
}

/** Collects the selectors of budgets. Where they are too large or too many, a whole namespace counts as protected. */
export class BudgetGatherer {
  readonly #namespaces = new Map<string, NamespaceBudgets>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = MAX_BUDGET_BYTES) {
    this.#maxBytes = maxBytes;
  }

  budgets(): DrainBudgets {
    return new Map([...this.#namespaces].map(([namespace, { selectors }]) => [namespace, selectors]));
  }

  add({ namespace, selector }: DisruptionBudget): void {
    if (selector === undefined) return;
    const own = this.#namespaces.get(namespace) ?? { selectors: [], bytes: 0, protectsAll: false };
    if (own.protectsAll) return;
    if (selector.kind !== "requirements") return this.#protectAll(namespace);
    const bytes = JSON.stringify(selector).length;
    own.selectors.push(selector);
    own.bytes += bytes;
    this.#namespaces.set(namespace, own);
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#protectAll(this.#largest());
  }

  #protectAll(namespace: string): void {
    this.#bytes -= this.#namespaces.get(namespace)?.bytes ?? 0;
    this.#namespaces.set(namespace, { selectors: [{ kind: "everything" }], bytes: 0, protectsAll: true });
  }

  #largest(): string {
    let [largest, most] = ["", -1];
    for (const [namespace, { bytes }] of this.#namespaces) {
      if (bytes > most) [largest, most] = [namespace, bytes];
    }
    return largest;
  }
}
