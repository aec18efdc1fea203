// Optional inputs of a build: subscriptions, repositories, keys. A pod waits for those that are deleted before it
// starts.

export interface OptionalInput {
  readonly volume: string;
  readonly path: string;
  readonly kind: "secret" | "configMap";
}

export const OPTIONAL_INPUTS: readonly OptionalInput[] = [
  { volume: "etc-pki-entitlement", path: "/etc/pki/entitlement", kind: "secret" },
  { volume: "etc-yum-repos-d", path: "/etc/yum.repos.d", kind: "configMap" },
  { volume: "etc-pki-rpm-gpg", path: "/etc/pki/rpm-gpg", kind: "secret" },
];

export function objectNameOf({ volume }: OptionalInput, pool: string): string {
  return volume === "etc-pki-entitlement" ? `${volume}-${pool}` : volume;
}

/** The mounted inputs that do not exist, for a message: `secret "etc-pki-rpm-gpg"`. */
export function missingInputs(
  volumes: readonly string[],
  { pool, optional }: { readonly pool: string; readonly optional: readonly OptionalInput[] },
): readonly string[] {
  return OPTIONAL_INPUTS.filter((input) => volumes.includes(input.volume) && !optional.includes(input))
    .map((input) => `${input.kind === "secret" ? "secret" : "ConfigMap"} "${objectNameOf(input, pool)}"`);
}
