// Asks the endpoints of an image in their order: the first answer counts.
import { failureOf, RegistryError, type RegistryFailure } from "./errors.ts";
import type { Endpoint } from "./pull_plan.ts";

/**
 * What `read` gave at the first endpoint where it succeeded, or why it did at none. `endpoint`: that one, or the last
 * one asked.
 */
type FirstAnswer<T> =
  | { readonly kind: "answered"; readonly value: T; readonly endpoint: Endpoint }
  | { readonly kind: "failed"; readonly failure: RegistryFailure; readonly endpoint: Endpoint | undefined };

/** Asks in turn. Rejects with what is no RegistryError, and once the signal has aborted. */
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
 * The last transient failure counts, as that endpoint may have the image; else the last that is no absence; else the
 * last.
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
