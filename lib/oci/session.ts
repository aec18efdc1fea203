// The documents of one repository at one host for one inspection.
import type { Clock } from "../clock.ts";
import { openLearnedChallenges } from "./auth/learned_challenges.ts";
import type { TokenSource } from "./auth/token.ts";
import { openConnectionVariants } from "./http/connection_variants.ts";
import type { Transport } from "./http/transport.ts";
import type { DocumentName, RegistryDocument } from "./image/document.ts";
import type { DocumentReader } from "./image/image_reader.ts";
import { type ManifestDocument, parseImageConfig, parseManifest } from "./image/manifest.ts";
import type { InspectionContext } from "./inspection_context.ts";
import { DocumentTurns } from "./limits/inspection_limit.ts";
import type { RequestLimiter } from "./limits/request_limiter.ts";
import type { Endpoint } from "./pull_plan.ts";
import { readParsed } from "./read_document.ts";
import { RepositoryClient } from "./repository_client.ts";

/** The documents of one repository. Each call throws InspectionError, and says which credentials were refused. */
export interface Session extends DocumentReader {
  /** What is known of a manifest without reading it. */
  head(reference: string): Promise<RegistryDocument>;
}

/** Opens a session; nothing is sent before the first document is read. */
export type OpenSession = (endpoint: Endpoint, context: InspectionContext) => Session;

/** What sessions are made with. */
export interface SessionDeps {
  /** Sends exchanges. */
  readonly transport: Transport;
  /** Gives bearer tokens. */
  readonly tokens: TokenSource;
  /** Limits the requests to each host. */
  readonly limiter: RequestLimiter;
  /** Reads dates in `Retry-After`. */
  readonly clock: Clock;
}

/**
 * Opens what all sessions share: the memory of how each host and repository is connected to and logged in to, and the turns in
 * which documents are parsed.
 */
export function openSessions(deps: SessionDeps): OpenSession {
  const { clock } = deps;
  const turns = new DocumentTurns();
  const shared = { ...deps, challenges: openLearnedChallenges(), variants: openConnectionVariants() };
  return (endpoint, context) => {
    const client = new RepositoryClient(shared, { endpoint, context, rights: "pull" });
    const read = <T>(name: DocumentName, parse: (document: RegistryDocument) => T): Promise<T> =>
      readParsed(client, { name, clock, turns, context }, parse);
    const parsed = ({ text, contentType }: RegistryDocument): ManifestDocument => parseManifest(text, contentType);
    return {
      manifest: (identifier) =>
        read({ kind: "manifest", identifier }, (document) => {
          const { digest, credential } = document;
          return { manifest: parsed(document), digest, credential };
        }),
      child: (identifier) => read({ kind: "child", identifier }, parsed),
      blob: (identifier) => read({ kind: "blob", identifier }, ({ text }) => parseImageConfig(text)),
      head: (identifier) => read({ kind: "head", identifier }, (document) => document),
    };
  };
}
