// The optional configuration file, `--config FILE`: settings that most clusters leave alone. YAML, checked like flags: a key
// that is not known is a problem, and all problems are reported together.
import { parse } from "yaml";
import * as z from "zod";
import { asParsed, type Parsed, unparsable } from "../parsed.ts";
import { ImageBuildsSchema } from "./image_builds.ts";

/** A setting of the file: what it is for, and what holds without it. */
export interface FileSetting {
  readonly key: keyof FileValues;
  /** Shown in the documentation. */
  readonly example: string;
  readonly help: string;
}

const count = z.int({ error: "is not a whole number" }).positive("is not above zero");
const path = z.string({ error: "is not a path" }).min(1).optional();
const texts = z.array(z.string().min(1), { error: "is not a list of texts" });

/** The file's settings in their types; each has a default. */
export const FileSchema = z.strictObject({
  variantLabels: texts.default([]),
  runtimeClasses: texts.default([]),
  imageVolumes: z.enum(["ignore", "require"], { error: "is not one of ignore, require" }).default("ignore"),
  registriesConfDir: path,
  hostsDir: path,
  rancherRegistries: path,
  policy: path,
  credentialProviderConfig: path,
  credentialProviderBinDir: path,
  webhookClientCa: path,
  archTaint: z.string({ error: "is not a text" }).min(1).default("archaware"),
  webhookService: z.string({ error: "is not a name" }).min(1).default("archway-webhook"),
  imageBuilds: ImageBuildsSchema.prefault({}),
  cacheEntries: count.default(10_000),
  workers: count.default(32),
  fallbackLogLevel: z.enum(["debug", "info", "warn", "error"], { error: "is not one of debug, info, warn, error" })
    .default("info"),
});

/** The settings of the file, or their defaults. */
export type FileValues = z.infer<typeof FileSchema>;

/** Every setting, in the order of the documentation. */
export const FILE_SETTINGS: readonly FileSetting[] = [
  {
    key: "runtimeClasses",
    example: "[kata=skip, wasm=amd64+arm64]",
    help: "What a RuntimeClass means: pods of it are skipped, or run on these architectures as well.",
  },
  {
    key: "variantLabels",
    example: "[arm/v7=example.com/arm-variant=v7]",
    help: "Node labels for image variants, as `ARCH/vN=KEY[=VALUE[|VALUE…]]`.",
  },
  { key: "imageVolumes", example: "require", help: "Whether image volumes count as images of the pod." },
  { key: "webhookService", example: "front", help: "Service in front of the webhooks." },
  {
    key: "webhookClientCa",
    example: "/etc/archway/client-ca.pem",
    help:
      "CA of the API servers' client certificates, PEM; with it one is required of every caller of the webhooks, of pods and of upgrade plans.",
  },
  { key: "registriesConfDir", example: "/etc/containers/registries.conf.d", help: "Drop-ins of registries.conf." },
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
    key: "imageBuilds",
    example: "{ builderImage: registry.example.com/builder:v1, maxParallel: 2 }",
    help: "Settings of --only=image-builds; docs/image-builds.md has all of them.",
  },
  { key: "cacheEntries", example: "50000", help: "Images kept in memory." },
  { key: "workers", example: "8", help: "Pods decided at the same time." },
  { key: "fallbackLogLevel", example: "debug", help: "Log level while the cluster config does not say." },
];

/** The setting of the file that a flag of this name would be: `hosts-dir` → `hostsDir`. */
export function settingOf(flag: string): keyof FileValues | undefined {
  const key = flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return FILE_SETTINGS.find((setting) => setting.key === key)?.key;
}

/** What a file came to. */
export interface ReadFile {
  readonly values: FileValues;
  readonly problems: readonly string[];
}

/** Reads the settings from the text of the file; without a file the defaults. */
export function readConfigFile(file: { readonly path: string; readonly text: string } | undefined): ReadFile {
  const values = FileSchema.parse({});
  if (file === undefined) return { values, problems: [] };
  const document = parseYaml(file.text);
  if (document.kind === "unparsable") {
    return { values, problems: [`Cannot read --config "${file.path}": ${document.fault.message}.`] };
  }
  const parsed = FileSchema.safeParse(document.value ?? {});
  if (parsed.success) return { values: parsed.data, problems: [] };
  const { issues } = parsed.error;
  return {
    values: readRest(document.value, issues),
    problems: issues.flatMap((issue) => describeIssue(issue, file.path)),
  };
}

/** The settings without the problems, so that they can be judged further; the others have their defaults. */
function readRest(document: unknown, issues: readonly z.core.$ZodIssue[]): FileValues {
  const wrong = new Set(
    issues.flatMap((issue) => issue.path.length === 0 && "keys" in issue ? issue.keys : issue.path.slice(0, 1)),
  );
  const right = Object.entries(Object(document)).filter(([key]) => !wrong.has(key));
  return FileSchema.safeParse(Object.fromEntries(right)).data ?? FileSchema.parse({});
}

function parseYaml(text: string): Parsed<unknown> {
  try {
    return asParsed<unknown>(parse(text));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0]?.replace(/[.:]$/, "") : undefined;
    return unparsable(reason ?? "it is not YAML");
  }
}

function describeIssue(issue: z.core.$ZodIssue, path: string): readonly string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `Cannot use "${key}" of --config "${path}": there is no such setting.`);
  }
  const at = issue.path.map(String).join(".");
  return [
    at === ""
      ? `Cannot use --config "${path}": it is not a mapping.`
      : `Cannot use "${at}" of --config "${path}": it ${issue.message}.`,
  ];
}
