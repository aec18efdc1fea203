// The serving certificate of Archway's own authority: created if missing, renewed in time, shared in a Secret.
import type { Clock } from "../../clock.ts";
import { firstRead, keepReading } from "../../k8s/secret_store.ts";
import type { Logger } from "../../log.ts";
import { type Authority, type AuthorityTerms, bundleOf, changeAuthority, decideAuthorityChange } from "./authority.ts";
import type { AuthorityStore } from "./authority_store.ts";
import { type CertificateInForce, ServingCertificate } from "./serving_certificate.ts";

interface SelfManagedDeps {
  readonly store: Pick<AuthorityStore, "read" | "swap">;
  readonly terms: AuthorityTerms;
  readonly clock: Clock;
  readonly log: Logger;
}

const MAX_RACES = 10;

/** Waits for the API server to answer; rejects with its ApiError on refusal (403, 404, 422). */
export async function openSelfManagedCertificate(
  deps: SelfManagedDeps,
  signal: AbortSignal,
): Promise<ServingCertificate> {
  const { clock, log } = deps;
  const followed = { clock, log, what: "serving certificate" };
  const first = inForce(await firstRead(() => renew(deps, signal), followed, signal));
  return new ServingCertificate(first, async (put, signal) => {
    await keepReading(
      async () => {
        if (put(inForce(await renew(deps, signal)))) log.info("serving certificate or its authority renewed");
      },
      followed,
      signal,
    );
  });
}

/** The current authority, after any due change. Replicas race, and the loser takes over the winner's authority. */
async function renew({ store, terms, clock, log }: SelfManagedDeps, signal: AbortSignal): Promise<Authority> {
  for (let race = 0; race < MAX_RACES; race++) {
    const stored = await store.read(signal);
    const nowMs = clock.nowMs();
    const change = decideAuthorityChange(stored.authority, terms, nowMs);
    if (change === "none" && stored.authority !== undefined) return stored.authority;
    if (change === "none") continue;
    const next = await changeAuthority(stored.authority, { change, terms, nowMs });
    if (!await store.swap(stored, next, signal)) continue;
    log.info("certificate authority changed", { change });
    return next;
  }
  throw new Error(`Cannot renew the serving certificate: ${MAX_RACES} writes of its Secret were overtaken. Try again.`);
}

function inForce(authority: Authority): CertificateInForce {
  return { ...authority.serving, caBundle: bundleOf(authority) };
}
