// The registries named on the command line: `--registry` (declared) and `--insecure-registry`.
import type { Fault } from "../../parsed.ts";
import { hostKey } from "../registry_host.ts";

/** Hosts as the administrator declared them. Docker Hub's names are one; a host without port also means port 443. */
export interface RegistryFlags {
  readonly declared: ReadonlySet<string>;
  readonly insecure: ReadonlySet<string>;
  readonly faults: readonly Fault[];
}

/** Whether the text is `HOST` or `HOST:PORT`, as both flags take it. */
export function isRegistryHost(text: string): boolean {
  return /^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/.test(text);
}

/** Reads lists of `HOST[:PORT]`. What is not one is passed over, with a fault. */
export function parseRegistryFlags(
  options: { readonly declared: readonly string[]; readonly insecure: readonly string[] },
): RegistryFlags {
  const faults: Fault[] = [];
  const read = (flag: string, values: readonly string[]): ReadonlySet<string> => {
    const good = values.map((value) => value.trim()).filter((value) => {
      const isHost = isRegistryHost(value);
      if (!isHost) faults.push({ message: `${flag} takes HOST or HOST:PORT, without scheme and path` });
      return isHost;
    });
    return new Set(good.map(hostKey));
  };
  return {
    declared: read("--registry", options.declared),
    insecure: read("--insecure-registry", options.insecure),
    faults,
  };
}
