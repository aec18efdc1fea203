// The whole configuration of pulls as one value.
import type { Credential } from "../credential.ts";
import type { HostsFile } from "./hosts_toml.ts";
import type { LoadedTls } from "./pem.ts";
import type { Policy } from "./policy.ts";
import type { RegistriesConf } from "./registries_conf.ts";
import type { RancherMirrors } from "./rancher_registries.ts";

export type HostsDirectory = HostsFile | { readonly kind: "unparsable"; readonly message: string };

export interface RancherSettings {
  readonly mirrors: ReadonlyMap<string, RancherMirrors>;
  readonly tls: ReadonlyMap<string, LoadedTls>;
  readonly credentials: readonly Credential[];
}

/** The settings in force. Maps are keyed by directory name or canonical host. */
export interface PullSettings {
  /** Why nothing may be pulled: a required file is missing or was never readable. */
  readonly refusal: string | undefined;
  readonly registries: RegistriesConf | undefined;
  /** The default for short names: Docker Hub, or none. */
  readonly shortNames: "usual" | "refuse";
  readonly hosts: ReadonlyMap<string, HostsDirectory>;
  readonly rancher: RancherSettings | undefined;
  readonly certs: ReadonlyMap<string, LoadedTls>;
  readonly policy: Policy | undefined;
  /** Hosts of --registry and of --insecure-registry, each in the form of `hostKey`. */
  readonly declared: ReadonlySet<string>;
  readonly insecure: ReadonlySet<string>;
  readonly caCertificates: readonly string[];
}
