// The configuration files, `--config FILE`: YAML, checked like flags; all problems are reported together.
import * as z from "zod";
import { parseYaml } from "../vocabulary/yaml.ts";
import { isObject, type JsonObject } from "../json.ts";
import { faultText } from "../parsed.ts";
import { ImageBuildsSchema } from "./image_builds.ts";
import { camel } from "./flags.ts";
import { Duration } from "../vocabulary/duration.ts";

const count = z.int({ error: "is not a whole number" }).positive("is not above zero");
const path = z.string({ error: "is not a path" }).min(1).optional();
const texts = z.array(z.string().min(1), { error: "is not a list of texts" });

export const FileSchema = z.strictObject({
  variantLabels: texts.default([]),
  runtimeClasses: texts.default([]),
  imageVolumes: z.enum(["auto", "require", "ignore"], { error: "is not one of auto, require, ignore" }).default("auto"),
  dockerConfig: path,
  registriesConf: path,
  registriesConfDir: path,
  certsDir: path,
  hostsDir: path,
  rancherRegistries: path,
  policy: path,
  credentialProviderConfig: path,
  credentialProviderBinDir: path,
  webhookClientCa: path,
  webhookPath: z.enum(["secret", "plain"], { error: "is not one of secret, plain" }).default("secret"),
  tolerateArchTaints: texts.optional(),
  taintsFailOpenAfter: Duration.default(5 * 60_000),
  archTaint: z.string({ error: "is not a text" }).min(1).default("archaware"),
  webhookService: z.string({ error: "is not a name" }).min(1).default("archway-webhook"),
  kueue: z.boolean({ error: "is not true or false" }).default(false),
  imageBuilds: ImageBuildsSchema.prefault({}),
  cacheEntries: count.default(10_000),
  workers: count.default(64),
  fallbackLogLevel: z.enum(["debug", "info", "warn", "error"], { error: "is not one of debug, info, warn, error" })
    .default("info"),
});

export type FileValues = z.infer<typeof FileSchema>;

export const FILE_SETTINGS: readonly {
  readonly key: keyof FileValues;
  readonly example: string;
  readonly help: string;
}[] = [
  {
    key: "runtimeClasses",
    example: "[kata=skip, wasm=amd64+arm64]",
    help: "What a RuntimeClass means: its pods are skipped, or their images run on these architectures too; " +
      "beside a Wasm image that holds for Wasm images alone.",
  },
  {
    key: "variantLabels",
    example: "[arm/v7=example.com/arm-variant=v7]",
    help: "Node labels for image variants, as `ARCH/vN=KEY[=VALUE[|VALUE…]]`.",
  },
  {
    key: "imageVolumes",
    example: "require",
    help: "What of image volumes counts: indexes (auto), all images (require), nothing (ignore).",
  },
  { key: "webhookService", example: "front", help: "Service in front of the webhooks." },
  {
    key: "webhookClientCa",
    example: "/etc/archway/client-ca.pem",
    help:
      "CA of the API servers' client certificates, PEM; with it one is required of every caller of the webhooks, of pods and of upgrade plans.",
  },
  {
    key: "webhookPath",
    example: "plain",
    help: "`secret`: the webhooks answer by an unguessable path; `plain`: by the paths of the manifests.",
  },
  {
    key: "dockerConfig",
    example: "/etc/archway/config.json",
    help: "config.json of docker, with auths and credential helpers.",
  },
  {
    key: "registriesConf",
    example: "/etc/archway/registries.conf",
    help: "registries.conf; without it /etc/containers/registries.conf if there.",
  },
  { key: "registriesConfDir", example: "/etc/containers/registries.conf.d", help: "Drop-ins of registries.conf." },
  {
    key: "certsDir",
    example: "/etc/archway/certs.d",
    help: "certs.d tree with CAs and client certificates by host; without it those of container tools, if there.",
  },
  { key: "hostsDir", example: "/etc/containerd/certs.d", help: "Folder with hosts.toml files of containerd." },
  { key: "rancherRegistries", example: "/etc/rancher/k3s/registries.yaml", help: "registries.yaml of k3s or RKE2." },
  {
    key: "policy",
    example: "/etc/archway/policy.json",
    help: "policy.json of the node's runtime; without it /etc/containers/policy.json if there.",
  },
  {
    key: "credentialProviderConfig",
    example: "/etc/archway/credential-providers.yaml",
    help: "Configuration of the kubelet's credential provider plugins.",
  },
  { key: "credentialProviderBinDir", example: "/opt/credential-providers", help: "Folder with those plugins." },
  {
    key: "archTaint",
    example: "supported-arch=arch:NoSchedule",
    help:
      "The taint of --arch-taints, as `KEY=arch[:EFFECT]` or a preset: archaware (supported-arch), gke, ack (never put " +
      "on nodes by Archway).",
  },
  {
    key: "tolerateArchTaints",
    example: "[gke, example.com/cpu=arch]",
    help:
      "Architecture taints that pods tolerate besides, in the same form; with --arch-taints=tolerate these alone, `[gke]` " +
      "where none is listed.",
  },
  {
    key: "taintsFailOpenAfter",
    example: "10m",
    help: "Lift the taints of --arch-taints=manage after so long without a leader.",
  },
  { key: "kueue", example: "true", help: "Queues of Kueue know where images run; component kueue has its rights." },
  {
    key: "imageBuilds",
    example: "{ builderImage: registry.example.com/builder:v1, maxParallel: 2 }",
    help: "Settings of --only=image-builds; docs/image-builds.md has all of them.",
  },
  { key: "cacheEntries", example: "50000", help: "Images kept in memory." },
  { key: "workers", example: "8", help: "Pods decided at the same time." },
  { key: "fallbackLogLevel", example: "debug", help: "Log level while the cluster config does not say." },
];

export function settingOf(flag: string): keyof FileValues | undefined {
  return FILE_SETTINGS.find(({ key }) => key === camel(flag))?.key;
}

export interface ParsedFiles {
  readonly values: FileValues;
  readonly problems: readonly string[];
}

/** Reads the settings from the texts of the files. Only one file may have a setting; a missing one has its default. */
export function readConfigFiles(files: readonly { readonly path: string; readonly text: string }[]): ParsedFiles {
  const problems: string[] = [];
  const settings = new Map<string, { readonly path: string; readonly value: unknown }>();
  for (const { path, text } of files) {
    const document = parseYaml(text);
    if (document.kind === "unparsable") {
      problems.push(`Cannot read --config "${path}": ${faultText(document.fault)}.`);
    } else if (!isObject(document.value ?? {})) {
      problems.push(`Cannot use --config "${path}": it is not a mapping.`);
    } else {
      for (const [key, value] of Object.entries(document.value ?? {})) {
        const other = settings.get(key);
        if (other === undefined) settings.set(key, { path, value });
        else problems.push(`Cannot use "${key}" of --config "${path}": "${other.path}" has it as well.`);
      }
    }
  }
  const document = Object.fromEntries(settings.entries().map(([key, { value }]) => [key, value]));
  const parsed = FileSchema.safeParse(document);
  if (parsed.success) return { values: parsed.data, problems };
  const { issues } = parsed.error;
  const pathOf = (key: string): string => settings.get(key)?.path ?? "";
  return {
    values: withoutInvalid(document, issues),
    problems: [...problems, ...issues.flatMap((issue) => describeIssue(issue, pathOf))],
  };
}

/** The valid settings, so that they can be checked further; the others get their defaults. */
function withoutInvalid(document: JsonObject, issues: readonly z.core.$ZodIssue[]): FileValues {
  const wrong = new Set(
    issues.flatMap((issue) => issue.path.length === 0 && "keys" in issue ? issue.keys : issue.path.slice(0, 1)),
  );
  const right = Object.entries(document).filter(([key]) => !wrong.has(key));
  return FileSchema.safeParse(Object.fromEntries(right)).data ?? FileSchema.parse({});
}

function describeIssue(issue: z.core.$ZodIssue, pathOf: (key: string) => string): readonly string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) =>
      `Cannot use "${key}" of --config "${pathOf(String(issue.path[0] ?? key))}": there is no such setting.`
    );
  }
  const path = pathOf(String(issue.path[0]));
  return [`Cannot use "${issue.path.map(String).join(".")}" of --config "${path}": it ${issue.message}.`];
}
