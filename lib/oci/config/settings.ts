// All configuration of pulls as one value, from which a pull is planned.
import type { Credential } from "../credential.ts";
import type { HostsFile } from "./hosts_toml.ts";
import type { HostAccess } from "./pem.ts";
import type { Policy } from "./policy.ts";
import type { RegistriesConf } from "./registries_conf.ts";
import type { RancherMirrors } from "./rancher_registries.ts";

export type HostsDirectory = HostsFile | { readonly kind: "unparsable"; readonly message: string };

export interface RancherSettings {
  readonly mirrors: ReadonlyMap<string, RancherMirrors>;
  readonly access: ReadonlyMap<string, HostAccess>;
  readonly credentials: readonly Credential[];
}

/** What is in force. Maps are keyed by directory name or by canonical host. */
export interface PullSettings {
  /** Set: nothing may be pulled, for this reason; a file that must hold rules is missing or was never readable. */
  readonly refusal: string | undefined;
  readonly registries: RegistriesConf | undefined;
  /** What short names mean when no file says: the usual registry, or nothing. */
  readonly shortNames: "usual" | "refuse";
  readonly hosts: ReadonlyMap<string, HostsDirectory>;
  readonly rancher: RancherSettings | undefined;
  readonly certs: ReadonlyMap<string, HostAccess>;
  readonly policy: Policy | undefined;
  /** Hosts of --registry and of --insecure-registry, each in the form of `hostKey`. */
  readonly declared: ReadonlySet<string>;
  readonly insecure: ReadonlySet<string>;
  readonly caCertificates: readonly string[];
}
