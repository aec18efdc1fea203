// Classifies connection faults by the runtime's message, with a message for users. Pure.
import { parse } from "yaml";
import * as z from "zod";
import type { FailureReason } from "../types.ts";
import TEXT from "./wire_faults.yaml" with { type: "text" };

/** A fault of the connection. `what` continues "the registry …" and may end with what to do next, without the last stop. */
interface WireFault {
  /** Whether the cause is in the certificates, in the connection, or in the time it took. */
  readonly reason: Extract<FailureReason, "TlsFailed" | "Unreachable" | "Timeout">;
  readonly what: string;
}

/** Rows of wire_faults.yaml. */
const ROWS = z.array(z.strictObject({
  sign: z.string().transform((text) => new RegExp(text, "i")),
  reason: z.enum(["TlsFailed", "Unreachable", "Timeout"]).default("TlsFailed"),
  says: z.string(),
  next: z.string().optional(),
}));

const OTHERWISE = { reason: "Unreachable", says: "could not be reached", next: undefined } as const;

let rows: z.output<typeof ROWS> | undefined;

const MAX_DETAIL = 200;

/** Names a fault. `text` is the runtime's, without addresses: a host may be called `tls`. */
export function describeWireFault(text: string): WireFault {
  rows ??= ROWS.parse(parse(TEXT));
  const { reason, says, next } = rows.find(({ sign }) => sign.test(text)) ?? OTHERWISE;
  const detail = text.replace(/^(.*client error \(\w+\)|fetch failed): /, "").replace(/: …$/, "").slice(0, MAX_DETAIL);
  return { reason, what: `${says} (${detail})${next === undefined ? "" : `. ${next}`}` };
}
