// How the text of a flag becomes its value, by the flag's shape.
import * as z from "zod";
import { correctedName, GO_ARCHITECTURES } from "../arch.ts";
import { Duration } from "../vocabulary/duration.ts";
import { isRegistryHost } from "../oci/host_names.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const address = z.string().transform((text, context): ListenAddress => {
  const parts = /^(\[[0-9a-fA-F:]+\]|[^:\s]*):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[2] ?? NaN);
  if (parts !== null && port <= 65_535) return { host: (parts[1] || "0.0.0.0").replace(/^\[|\]$/g, ""), port };
  context.addIssue({ code: "custom", message: "is not HOST:PORT with a port up to 65535" });
  return z.NEVER;
});
const architecture = z.string().superRefine((text, context) => {
  if (GO_ARCHITECTURES.has(text)) return;
  const right = correctedName(text) ?? "";
  const hint = GO_ARCHITECTURES.has(right) ? `use ${right}` : "amd64, arm64";
  context.addIssue({ code: "custom", message: `is not an architecture as nodes are labelled: ${hint}` });
});
const secretName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, "is not NAMESPACE/NAME").transform((text) => {
  const [namespace = "", name = ""] = text.split("/");
  return { namespace, name };
});
const list = z.array(z.string().min(1));

/** By shape. `list`, `hosts` and `texts` repeat, and all but `texts` also split at commas. */
export const SHAPES = {
  text: z.string().min(1).optional(),
  list,
  hosts: z.array(z.string().refine(isRegistryHost, "is not HOST or HOST:PORT, without scheme and path")),
  texts: list,
  switch: z.enum(["true", "false"], { error: "is not true or false" }).transform((text) => text === "true"),
  duration: Duration,
  address,
  url: z.url({ error: "is not a URL" }).optional(),
  namespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not a namespace name"),
  architecture: architecture.optional(),
  secretName,
} as const;
