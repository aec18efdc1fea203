// Reading from registries for an index: the first place that has an image, and documents with bounded retries.
import type { Clock } from "../clock.ts";
import { InspectionError, inspectionError } from "../oci/errors.ts";
import type { Endpoint } from "../oci/pull_plan.ts";
import { withRetries } from "../oci/push/retries.ts";
import { type ReadDocument, readDocument } from "../oci/read_document.ts";
import type { RepositoryClient } from "../oci/repository_client.ts";
import type { Repositories } from "./repositories.ts";

/** What reading takes. */
export interface ReadDeps {
  readonly repositories: Repositories;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The result of the first place that can be read. Throws what a place failed with that may pass, else what else than absence
 * one failed with, as a mirror may lack what its registry has; and at once what is no failure of a registry.
 */
export async function readFirst<T>(
  endpoints: readonly Endpoint[],
  { repositories, signal }: Pick<ReadDeps, "repositories" | "signal">,
  read: (source: RepositoryClient, endpoint: Endpoint) => Promise<T>,
): Promise<T> {
  const failures: InspectionError[] = [];
  for (const endpoint of endpoints) {
    try {
      return await read(await repositories.reader(endpoint), endpoint);
    } catch (error) {
      if (signal.aborted || !(error instanceof InspectionError)) throw error;
      failures.push(error);
    }
  }
  throw failures.find(({ failure }) => failure.kind === "transient") ??
    failures.find(({ failure }) => failure.reason !== "ManifestUnknown") ?? failures.at(-1) ??
    inspectionError("Misconfigured", "Cannot read an image: no registry is configured for it.");
}

/** Reads a document; what may pass is tried again. */
export function readAgain(
  source: RepositoryClient,
  name: { readonly kind: "manifest" | "child" | "blob"; readonly identifier: string },
  { clock, signal }: Pick<ReadDeps, "clock" | "signal">,
): Promise<ReadDocument> {
  return withRetries(() => readDocument(source, { name, clock }), { clock, signal });
}
