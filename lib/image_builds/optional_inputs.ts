// Inputs that a cluster may have, beside a build's own: subscriptions, package repositories and their keys. What a Job mounts of
// them was there when it was made; where one goes before the pod has started, its node waits for it without an end.
import type { OptionalInputs } from "./facts.ts";

/** Where each is mounted, and as what. */
export const OPTIONAL_INPUTS = [
  { has: "hasEntitlements", volume: "etc-pki-entitlement", path: "/etc/pki/entitlement", kind: "secret" },
  { has: "hasYumRepos", volume: "etc-yum-repos-d", path: "/etc/yum.repos.d", kind: "configMap" },
  { has: "hasRpmKeys", volume: "etc-pki-rpm-gpg", path: "/etc/pki/rpm-gpg", kind: "secret" },
] as const satisfies readonly {
  readonly has: keyof OptionalInputs;
  readonly volume: string;
  readonly path: string;
  readonly kind: "secret" | "configMap";
}[];

/** Name of the object that an input of a pool's build is in. */
export function objectOf({ volume }: Pick<typeof OPTIONAL_INPUTS[number], "volume">, pool: string): string {
  return volume === "etc-pki-entitlement" ? `${volume}-${pool}` : volume;
}

/** What a pod mounts of them and is not there, as people name it: `secret "etc-pki-rpm-gpg"`. */
export function missingInputs(
  volumes: readonly string[],
  { pool, optional }: { readonly pool: string; readonly optional: OptionalInputs },
): readonly string[] {
  return OPTIONAL_INPUTS.filter(({ has, volume }) => volumes.includes(volume) && !optional[has])
    .map((input) => `${input.kind === "secret" ? "secret" : "ConfigMap"} "${objectOf(input, pool)}"`);
}
