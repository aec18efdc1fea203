// The pull secrets that a pod or a ServiceAccount names.
import { textAt } from "../json.ts";

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
