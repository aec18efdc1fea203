// A place that an image may be pulled from, and how it is reached.
import type { Credential } from "./credential.ts";

/** One place to pull a reference from: the registry itself or a mirror of it. */
export interface Endpoint {
  readonly host: string;
  readonly repository: string;
  readonly identifier: string;
  readonly isMirror: boolean;
  /** Path prefix before `/v2` that a configured mirror URL may carry; empty otherwise. */
  readonly pathPrefix: string;
  /** The registry that is mirrored, sent to a mirror as `?ns=`; absent: not sent. */
  readonly mirrorOf?: string;
  /** Headers that the configuration sets for this endpoint. They may be secret: never log, never store. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly connection: ConnectionSettings;
}

/**
 * An endpoint with the credentials to try there, in their order: the pod's, then the keyring's. Secret: never log,
 * never store.
 */
export interface EndpointWithCredentials extends Endpoint {
  readonly credentials: readonly Credential[];
}

/**
 * Equal for endpoints with the same address, repository and mirrored registry. Identifier and headers do not matter.
 */
export function keyOfEndpoint({ host, repository, pathPrefix, mirrorOf, connection: { scheme } }: Endpoint): string {
  return JSON.stringify([scheme, host, pathPrefix, repository, mirrorOf]);
}

export function isSameRepository(left: Endpoint, right: Endpoint): boolean {
  return isSameRegistry(left, right) && left.repository === right.repository;
}

/** Whether two endpoints are of one registry, so that blobs can be mounted from one to the other. */
export function isSameRegistry(left: Endpoint, right: Endpoint): boolean {
  return left.host === right.host && left.pathPrefix === right.pathPrefix && left.mirrorOf === right.mirrorOf;
}

/** A client certificate with its key, both PEM. The key is secret: never log, never store. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface ConnectionSettings {
  readonly scheme: "https" | "http" | "https-then-http";
  /** False only for a registry declared insecure. */
  readonly verifiesTls: boolean;
  readonly caCertificates: readonly string[];
  /** Client certificates for mTLS, in the order to try; absent: none. */
  readonly clientCertificates?: readonly ClientCertificate[];
  /** True when the operator declared this host: loopback, private and link-local addresses are then allowed. */
  readonly isDeclared: boolean;
}

/**
 * How to connect to another origin that the registry at `host[:port]` names: with verified TLS and without a client
 * certificate. That origin counts as declared only on the same host, at any port.
 */
export function connectionElsewhere(own: ConnectionSettings, host: string, { hostname }: URL): ConnectionSettings {
  const { clientCertificates: _own, ...others } = own;
  const isDeclared = others.isDeclared && hostname === new URL(`https://${host}`).hostname;
  return { ...others, verifiesTls: true, isDeclared };
}
