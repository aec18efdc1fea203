// Every flag of every command as one table: name, environment variable, shape, default, help.

/** The commands of `archway`. `cache export`, `index assemble` and the like are one command with a verb. */
export const COMMANDS = [
  "serve",
  "dev",
  "inspect",
  "index",
  "explain",
  "report",
  "release",
  "cache",
  "taints",
  "upgrade",
  "enoexec-daemon",
] as const;

/** One of {@link COMMANDS}. */
export type Command = typeof COMMANDS[number];

/** How a flag's text is read. `list` flags repeat and also split at commas. */
export type FlagShape = "text" | "list" | "switch" | "duration" | "address" | "url" | "choice";

/** One row of the table. The environment variable is `ARCHWAY_` and the name in capitals. */
export interface Flag {
  readonly name: string;
  readonly shape: FlagShape;
  readonly commands: readonly Command[];
  readonly help: string;
  /** Shown in help instead of the shape: `FILE`, `HOST[:PORT]`. */
  readonly placeholder?: string;
  readonly fallback?: string;
  readonly choices?: readonly string[];
  /** Environment variables of wider use that are read when ARCHWAY_… is not set. */
  readonly alsoEnv?: readonly string[];
}

const CLUSTER: readonly Command[] = ["serve", "explain", "report", "release", "taints", "upgrade", "enoexec-daemon"];
const SERVE: readonly Command[] = ["serve", "dev"];
const SERVICES: readonly Command[] = [...SERVE, "enoexec-daemon"];
const REGISTRY: readonly Command[] = ["serve", "inspect", "report", "index", "dev"];
const INSPECTING: readonly Command[] = ["serve", "inspect", "report", "dev"];
const CONFIGURED: readonly Command[] = ["serve", "inspect", "report", "index", "cache", "dev", "taints"];
const STORE: readonly Command[] = ["serve", "inspect", "report", "cache", "dev"];

/** The table. Order is the order of `--help`. */
export const FLAGS: readonly Flag[] = [
  flag("config", "text", CONFIGURED, "File with settings that are rarely needed; see docs/configuration.md.", "FILE"),
  {
    ...flag("only", "choice", ["serve"], "Which capability this process serves; each has a Deployment of its own."),
    choices: ["placement", "upgrades", "image-builds"],
    fallback: "placement",
  },
  {
    ...flag(
      "kubeconfig",
      "text",
      [...CLUSTER, "inspect"],
      "Kubeconfig file; default the pod's ServiceAccount, outside of a pod ~/.kube/config but for serve.",
      "FILE",
    ),
    alsoEnv: ["KUBECONFIG"],
  },
  flag(
    "context",
    "text",
    ["explain", "report", "release", "taints", "upgrade"],
    "Context of the kubeconfig; default its current one.",
    "NAME",
  ),
  {
    ...flag("namespace", "text", SERVICES, "Namespace Archway runs in; its pods are never touched.", "NAME"),
    fallback: "archway-system",
    alsoEnv: ["NAMESPACE", "OPERATOR_NAMESPACE"],
  },
  {
    ...flag("node-name", "text", ["enoexec-daemon"], "Node whose exec format errors are reported.", "NAME"),
    alsoEnv: ["NODE_NAME"],
  },
  {
    ...flag(
      "system-namespaces",
      "list",
      SERVE,
      "Namespaces whose pods are left alone; a trailing * matches any suffix.",
      "NAME|PREFIX*",
    ),
    fallback: "kube-*,openshift-*,hypershift-*",
  },
  { ...flag("listen", "address", SERVE, "Address of the TLS webhooks.", "HOST:PORT"), fallback: "0.0.0.0:9443" },
  {
    ...flag(
      "admin-listen",
      "address",
      SERVICES,
      "Address of metrics, health and the dashboard (plain HTTP).",
      "HOST:PORT",
    ),
    fallback: "0.0.0.0:8080",
  },
  {
    ...flag(
      "tls-mode",
      "choice",
      ["serve"],
      "`self`: Archway makes its own certificate; `files`: --tls-cert; `auto`: files if given.",
    ),
    choices: ["auto", "self", "files"],
    fallback: "auto",
  },
  flag("tls-cert", "text", ["serve"], "Serving certificate, PEM; reloaded when it changes.", "FILE"),
  flag("tls-key", "text", ["serve"], "Key of the serving certificate, PEM.", "FILE"),
  flag("tls-ca", "text", ["serve"], "CA that goes into `caBundle`, PEM.", "FILE"),
  flag("webhook-url", "url", ["serve"], "Register the webhook by this URL instead of by Service.", "https://HOST:PORT"),
  {
    ...flag(
      "webhook-path",
      "choice",
      ["serve"],
      "`secret`: the webhooks answer by an unguessable path; `plain`: by the paths of the manifests.",
    ),
    choices: ["secret", "plain"],
    fallback: "secret",
  },
  flag(
    "runbook-base-url",
    "url",
    ["serve"],
    "Where the files of Archway's repository can be read, for the links of alerts to their runbooks.",
    "https://HOST/PATH/",
  ),
  flag("identity", "text", ["serve"], "Name of this replica on the Lease; default random.", "NAME"),
  {
    ...flag("max-gate-age", "duration", SERVE, "Longest time a pod may stay gated."),
    fallback: "60s",
  },
  {
    ...flag("warm-admission", "switch", SERVE, "Place pods at admission when all their images are known."),
    fallback: "true",
  },
  flag("migration", "switch", ["serve"], "Free the Deployments that the Multiarch Tuning Operator left behind."),
  flag("audit", "switch", SERVE, "Change nothing; report what would be done."),
  flag("prewarm", "switch", SERVE, "Inspect images of workload templates before pods exist."),
  flag(
    "tolerate-arch-taints",
    "list",
    SERVE,
    "Tolerate architecture taints of the decided architectures.",
    "PRESET|KEY=arch",
  ),
  {
    ...flag(
      "arch-taints",
      "choice",
      SERVE,
      "Keep an architecture taint on every node, and its toleration on every pod.",
    ),
    choices: ["manage", "off"],
    fallback: "off",
  },
  {
    ...flag("taints-fail-open-after", "duration", SERVE, "Lift those taints after so long without a leader."),
    fallback: "5m",
  },
  flag("live-architectures", "switch", SERVE, "Narrow to architectures that nodes have or can be made with."),
  {
    ...flag("daemonsets", "choice", SERVE, "What to do with DaemonSet pods."),
    choices: ["ignore", "warn", "constrain"],
    fallback: "ignore",
  },
  flag(
    "exec-format-errors",
    "switch",
    SERVE,
    "Report containers that run a program of another architecture, by the status of pods.",
  ),
  flag(
    "exec-format-image",
    "text",
    ["serve"],
    "Image of the daemons of the plugin execFormatErrorMonitor; without it none run.",
    "IMAGE",
  ),
  flag(
    "avoid-failed-architectures",
    "switch",
    SERVE,
    "Leave out architectures that an image claims and its program was seen to lack.",
  ),
  flag(
    "repair-exec-format-errors",
    "switch",
    SERVE,
    "Evict such pods where their owners make them again and Archway places them elsewhere.",
  ),
  flag(
    "registry",
    "list",
    REGISTRY,
    "Registry on a loopback, link-local or metadata address that requests may be sent to.",
    "HOST[:PORT]",
  ),
  flag("registry-ca", "list", REGISTRY, "CA to trust for registries, PEM.", "FILE"),
  flag(
    "insecure-registry",
    "list",
    REGISTRY,
    "Registry with plain HTTP or an unverifiable certificate.",
    "HOST[:PORT]",
  ),
  flag(
    "registries-conf",
    "text",
    REGISTRY,
    "registries.conf; default /etc/containers/registries.conf if there.",
    "FILE",
  ),
  flag("certs-dir", "text", REGISTRY, "certs.d tree with CAs and client certificates by host.", "DIR"),
  flag("docker-config", "text", REGISTRY, "docker config.json with auths and credential helpers.", "FILE"),
  {
    ...flag(
      "global-pull-secret",
      "text",
      ["serve", "report"],
      "Pull secret for all pods; fine if absent. Another NAME needs a right: docs/registries.md.",
      "NAMESPACE/NAME",
    ),
    fallback: "openshift-config/pull-secret",
  },
  {
    ...flag(
      "pull-secrets",
      "choice",
      ["serve"],
      "Which pull secrets may be read: those of pods, of our namespace, none.",
    ),
    choices: ["pod", "own-namespace", "none"],
    fallback: "pod",
  },
  flag(
    "failures",
    "switch",
    ["inspect"],
    "Also ask the cluster of the kubeconfig where the images were seen to fail although they claim it.",
  ),
  flag("check-configs", "switch", ["inspect"], "Also compare an index with the configs of its images (more requests)."),
  flag("cache-path", "text", STORE, "File of the image cache; without it the cache is memory only.", "FILE"),
  { ...flag("kv-url", "url", STORE, "Shared KV Connect server for the image cache."), alsoEnv: ["DENO_KV_URL"] },
  {
    ...flag("tag-ttl", "duration", INSPECTING, "How long the digest of a tag is used before it is looked up again."),
    fallback: "5m",
  },
  {
    ...flag(
      "output",
      "choice",
      ["inspect", "index", "explain", "report", "release", "taints", "upgrade", "dev"],
      "Form of the output.",
    ),
    choices: ["table", "json", "yaml"],
    fallback: "table",
  },
  flag(
    "pod-namespace",
    "text",
    ["explain", "report"],
    "Namespace of the pod; default that of the context, else default. With report: the only one that is read.",
    "NAME",
  ),
  flag("arch", "text", ["report"], "List what keeps workloads from this architecture.", "ARCHITECTURE"),
  flag("registries", "switch", ["inspect"], "Show how the registries of the images do instead of the images."),
  flag("trace", "switch", ["inspect"], "Show every HTTP exchange, secrets masked."),
  flag(
    "admin-url",
    "url",
    ["inspect"],
    "With --registries: ask a running Archway at its admin address instead.",
    "http://HOST:PORT",
  ),
  flag("to", "text", ["index"], "With assemble: where the index is published.", "REGISTRY/REPOSITORY:TAG"),
  flag("dry-run", "switch", ["release", "index", "taints", "upgrade"], "Show what would be done, do nothing."),
  flag("once", "switch", ["dev"], "Run the samples, print how each ended, exit."),
  {
    ...flag("scenario", "choice", ["dev"], "Which samples: placement, wrong programs, taints, a migration, an image."),
    choices: ["placement", "exec-format-error", "taints", "upgrade", "image-build"],
    fallback: "placement",
  },
];

/** One-letter forms, as kubectl has them. */
export const SHORT_FLAGS: Readonly<Record<string, string>> = { output: "o", "pod-namespace": "n" };

function flag(name: string, shape: FlagShape, commands: readonly Command[], help: string, placeholder?: string): Flag {
  return { name, shape, commands, help, ...(placeholder === undefined ? {} : { placeholder }) };
}

/** The environment variable of a flag: `max-gate-age` → `ARCHWAY_MAX_GATE_AGE`. */
export function environmentName(name: string): string {
  return `ARCHWAY_${name.toUpperCase().replaceAll("-", "_")}`;
}
