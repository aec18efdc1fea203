// The path secret as the members of its Secret.
import * as z from "zod";
import type { SecretTexts } from "../../k8s/secret_record.ts";
import type { PathSecret } from "./state.ts";

/** Name of the Secret, in Archway's namespace. Apart from that of the certificates: those may be another controller's. */
export const PATH_SECRET = "archway-webhook-path";

const secret = z.string().min(32);
const time = z.coerce.number();
const members = z.object({
  "current": secret,
  // Removing it requests a new secret: see docs/webhook-security.md.
  "made-at-ms": time.catch(0),
  "next": secret.optional(),
  "next-used-from-ms": time.optional(),
  "previous": secret.optional(),
  "previous-replaced-at-ms": time.optional(),
});

/** The state in a Secret, or undefined when it holds none that can be read. */
export function parsePathSecret(texts: SecretTexts | undefined): PathSecret | undefined {
  const parsed = members.safeParse(texts);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const [next, usedFromMs] = [data.next, data["next-used-from-ms"]];
  const [previous, replacedAtMs] = [data.previous, data["previous-replaced-at-ms"]];
  return {
    current: data.current,
    madeAtMs: data["made-at-ms"],
    next: next === undefined || usedFromMs === undefined ? undefined : { secret: next, usedFromMs },
    previous: previous === undefined || replacedAtMs === undefined ? undefined : { secret: previous, replacedAtMs },
  };
}

export function renderPathSecret({ current, madeAtMs, next, previous }: PathSecret): SecretTexts {
  return {
    "current": current,
    "made-at-ms": String(madeAtMs),
    ...(next === undefined ? {} : { "next": next.secret, "next-used-from-ms": String(next.usedFromMs) }),
    ...(previous === undefined
      ? {}
      : { "previous": previous.secret, "previous-replaced-at-ms": String(previous.replacedAtMs) }),
  };
}
