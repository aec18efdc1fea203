// What drain help reads of pods and PodDisruptionBudgets. Namespaces make many and large ones: what is kept of them is bounded.
import type { DisruptionBudget } from "../../../cluster/disruption_budget.ts";
import { objectAt, textAt } from "../../../json.ts";
import { type LabelSelector, matchesSelector } from "../../../cluster/label_selector.ts";
import type { KubeObject, ObjectMeta } from "../../../k8s/types.ts";
import type { DrainBudgets, DrainPod } from "./types.ts";

const MIRROR = "kubernetes.io/config.mirror";
/** Of the selectors of all budgets, as JSON: some 30 000 ordinary ones. */
const MAX_BUDGET_BYTES = 4 * 2 ** 20;

/** Reads a pod; undefined where it is not on the node, comes back to it whatever is done, or is not to be touched. */
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
  if (textAt(objectAt(object, "spec"), "nodeName") !== node || isBoundToNode(metadata)) return undefined;
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

/** What a drain passes over: mirrors of static pods, and pods whose controller, not just any owner, is a DaemonSet. */
function isBoundToNode({ ownerReferences = [], annotations = {} }: ObjectMeta): boolean {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return controller?.kind === "DaemonSet" || annotations[MIRROR] !== undefined;
}

interface NamespaceBudgets {
  readonly selectors: LabelSelector[];
  bytes: number;
  /** All pods count as protected: nothing is added any more. */
  readonly isWhole: boolean;
}

/** Gathers PodDisruptionBudgets: without a selector one selects nothing; too large or too many ones protect the whole namespace. */
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
    const own = this.#namespaces.get(namespace) ?? { selectors: [], bytes: 0, isWhole: false };
    if (own.isWhole) return;
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
    this.#namespaces.set(namespace, { selectors: [{ kind: "everything" }], bytes: 0, isWhole: true });
  }

  #largest(): string {
    let [largest, most] = ["", -1];
    for (const [namespace, { bytes }] of this.#namespaces) {
      if (bytes > most) [largest, most] = [namespace, bytes];
    }
    return largest;
  }
}
