// The whole configuration of pulls as one value.
import type { Parsed } from "../../parsed.ts";
import type { Credential } from "../credential.ts";
import type { HostTls } from "./host_tls.ts";
import type { HostsFile } from "./hosts_toml.ts";
import type { Policy } from "./policy.ts";
import type { RancherMirrors } from "./rancher_registries.ts";
import type { RegistriesConf } from "./registries_conf.ts";

export interface RancherSettings {
  readonly mirrors: ReadonlyMap<string, RancherMirrors>;
  readonly tls: ReadonlyMap<string, Parsed<HostTls>>;
  readonly credentials: readonly Credential[];
}

/** The settings in force. Maps are keyed by directory name or canonical host. A host with unusable files is refused. */
export interface PullSettings {
  /** Why nothing may be pulled: a required file is missing or unreadable. */
  readonly refusal: string | undefined;
  readonly registries: RegistriesConf;
  readonly hosts: ReadonlyMap<string, Parsed<HostsFile>>;
  readonly rancher: RancherSettings;
  readonly certs: ReadonlyMap<string, Parsed<HostTls>>;
  readonly policy: Policy;
  /** Hosts of --registry and of --insecure-registry, each in the form of `hostKey`. */
  readonly declared: ReadonlySet<string>;
  readonly insecure: ReadonlySet<string>;
  readonly caCertificates: readonly string[];
}
