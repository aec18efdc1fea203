// All configuration of pulls as one value, from which a pull is planned.
import type { Credential } from "../credential.ts";
import type { EndpointUrl } from "./endpoint_url.ts";
import type { RegistryFlags } from "./flags.ts";
import type { HostCapabilities } from "./hosts_toml.ts";
import type { HostCertificates } from "./pem.ts";
import type { Policy } from "./policy.ts";
import type { RegistriesConf } from "./registries_conf.ts";
import type { RancherMirrors } from "./rancher_registries.ts";

/** How a host is reached, where not by the defaults; or that its configuration cannot be used, so that it gets no request. */
export type HostAccess =
  | { readonly kind: "parsed"; readonly skipVerify: boolean; readonly certificates: HostCertificates }
  | { readonly kind: "unparsable"; readonly message: string };

/** A place of a hosts.toml with its certificates read. */
export interface HostsPlace extends HostCapabilities {
  readonly url: EndpointUrl;
  /** Sent along; may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly access: HostAccess;
}

/** One directory of containerd's tree. `server` undefined: the host itself. */
export type HostsDirectory =
  | {
    readonly kind: "parsed";
    readonly mirrors: readonly HostsPlace[];
    readonly server: EndpointUrl | undefined;
    readonly serverAccess: HostAccess;
    readonly serverCapabilities: HostCapabilities;
    readonly serverHeaders: Readonly<Record<string, string>>;
  }
  | { readonly kind: "unparsable"; readonly message: string };

/** registries.yaml with its certificates read. */
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
  readonly flags: RegistryFlags;
  /** PEM, trusted for every registry. */
  readonly caCertificates: readonly string[];
}
