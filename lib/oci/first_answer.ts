// Asks the endpoints of an image in their order: the first answer counts.
import { failureOf, RegistryError, type RegistryFailure } from "./errors.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * What `read` gave at the first endpoint where it succeeded, or why it failed at all of them. `endpoint` is the one
 * that succeeded, or the last one.
 */
export type FirstAnswer<T> =
  | { readonly kind: "answered"; readonly value: T; readonly endpoint: Endpoint }
  | { readonly kind: "failed"; readonly failure: RegistryFailure; readonly endpoint: Endpoint | undefined };

/**
 * Reads at one endpoint after the other. Rejects with an error that is no RegistryError, and with any error after the
 * signal has aborted.
 */
export async function firstAnswer<T, E extends Endpoint>(
  { image, endpoints }: { readonly image: string; readonly endpoints: readonly E[] },
  signal: AbortSignal,
  read: (endpoint: E) => Promise<T>,
): Promise<FirstAnswer<T>> {
  const failures: RegistryFailure[] = [];
  for (const endpoint of endpoints) {
    try {
      return { kind: "answered", value: await read(endpoint), endpoint };
    } catch (error) {
      if (signal.aborted || !(error instanceof RegistryError)) throw error;
      failures.push(error.failure);
    }
  }
  return { kind: "failed", failure: joined(image, failures), endpoint: endpoints.at(-1) };
}

/**
 * Joins the failures into one. The last transient one counts, because its endpoint may have the image; else the last
 * other than ManifestUnknown; else the last of all.
 */
function joined(image: string, failures: readonly RegistryFailure[]): RegistryFailure {
  const counting = failures.findLast(({ kind }) => kind === "transient") ??
    failures.findLast(({ reason }) => reason !== "ManifestUnknown") ?? failures.at(-1);
  if (counting === undefined) {
    return failureOf("Misconfigured", `Cannot inspect "${image}": no registry is configured for it.`);
  }
  const others = failures.filter((failure) => failure !== counting).map(({ message }) => message);
  return { ...counting, message: [counting.message, ...others].join(" Also: ") };
}
