// Classifies connection faults by the runtime's message, with a message for users. Pure.
import { parse } from "yaml";
import * as z from "zod";
import type { FailureReason } from "../errors.ts";
import TEXT from "./wire_faults.yaml" with { type: "text" };

/** A connection fault. `what` continues "the registry …", may end with advice, and has no final full stop. */
interface WireFault {
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

/** Describes a fault by the runtime's text, without addresses: a host may be named `tls`. */
export function describeWireFault(text: string): WireFault {
  rows ??= ROWS.parse(parse(TEXT));
  const { reason, says, next } = rows.find(({ sign }) => sign.test(text)) ?? OTHERWISE;
  const detail = text.replace(/^(.*client error \(\w+\)|fetch failed): /, "").replace(/: …$/, "").slice(0, MAX_DETAIL);
  return { reason, what: `${says} (${detail})${next === undefined ? "" : `. ${next}`}` };
}
