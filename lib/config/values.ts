// Parses every flag's text into a value of its type.
import * as z from "zod";
import { correctedName, isUsableArchitecture } from "../arch.ts";
import { Duration } from "../vocabulary/duration.ts";
import { isRegistryHost } from "../oci/registry_host.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const optionalText = z.string().min(1).optional();
const list = z.array(z.string().min(1));
const hosts = z.array(z.string().refine(isRegistryHost, "is not HOST or HOST:PORT, without scheme and path"));
const address = z.string().transform((text, context): ListenAddress => {
  const parts = /^(\[[0-9a-fA-F:]+\]|[^:\s]*):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[2] ?? NaN);
  if (parts !== null && port <= 65_535) return { host: (parts[1] || "0.0.0.0").replace(/^\[|\]$/g, ""), port };
  context.addIssue({ code: "custom", message: "is not HOST:PORT with a port up to 65535" });
  return z.NEVER;
});
const architecture = z.string().superRefine((text, context) => {
  const usable = isUsableArchitecture(text);
  const right = usable ? correctedName(text) : undefined;
  if (usable && right === undefined) return;
  const hint = right === undefined ? "amd64, arm64" : `use ${right}`;
  context.addIssue({ code: "custom", message: `is not an architecture as nodes are labelled: ${hint}` });
});
const flagSwitch = z.enum(["true", "false"], { error: "is not true or false" }).transform((text) => text === "true");
const url = z.url({ error: "is not a URL" }).optional();
const secretName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, "is not NAMESPACE/NAME").transform((text) => {
  const [namespace = "", name = ""] = text.split("/");
  return { namespace, name };
});

export const Values = z.object({
  config: list,
  only: z.enum(["placement", "upgrades", "image-builds"]),
  kubeconfig: optionalText,
  context: optionalText,
  namespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not a namespace name"),
  nodeName: optionalText,
  podNamespace: optionalText,
  arch: architecture.optional(),
  systemNamespaces: list,
  listen: address,
  adminListen: address,
  tlsCert: optionalText,
  tlsKey: optionalText,
  tlsCa: optionalText,
  webhookUrl: url,
  maxGateAge: Duration,
  warmAdmission: flagSwitch,
  audit: flagSwitch,
  prewarm: flagSwitch,
  archTaints: z.enum(["off", "tolerate", "manage"]),
  liveArchitectures: flagSwitch,
  daemonsets: z.enum(["ignore", "warn", "constrain"]),
  execFormatErrors: z.enum(["off", "report", "avoid", "repair"]),
  execFormatImage: optionalText,
  registry: hosts,
  registryCa: list,
  insecureRegistry: hosts,
  globalPullSecret: secretName,
  pullSecrets: z.enum(["pod", "own-namespace", "none"]),
  cachePath: optionalText,
  kvUrl: url,
  tagTtl: Duration,
  output: z.enum(["table", "json", "yaml"]),
  trace: flagSwitch,
  to: list,
  annotation: list,
  dryRun: flagSwitch,
  once: flagSwitch,
  scenario: z.enum(["placement", "exec-format-error", "taints", "upgrade", "image-build", "odd-pods"]),
});

export type ConfigValues = z.infer<typeof Values>;
