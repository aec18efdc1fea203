// The pull secrets that a pod or a ServiceAccount names, and for whom answers that were read with them are valid.
import { textAt } from "../json.ts";

/** Who pulls. An answer read with pull secrets is valid only for the same namespace, account and secret names. */
export interface PullIdentity {
  readonly namespace: string;
  /** The ServiceAccount, whose pull secrets count where the pod names none; empty: `default`. */
  readonly serviceAccount: string;
  readonly pullSecrets: readonly string[];
}

/** The most pull secrets of one pod that are read: each costs a request, and a pod may name tens of thousands. */
const MAX_PULL_SECRETS = 32;

export function pullSecretNames(list: readonly unknown[] | undefined): readonly string[] {
  const names = new Set<string>();
  for (const one of list ?? []) {
    if (names.size === MAX_PULL_SECRETS) break;
    const name = textAt(one, "name");
    if (name !== "") names.add(name);
  }
  return [...names];
}
