// Every flag of every command as one table: name, environment variable, shape, default, help.
import { DEFAULT_SYSTEM_NAMESPACES } from "../names.ts";

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
  "completion",
] as const;

export type Command = typeof COMMANDS[number];

/** How a flag's text is read. `list` and `texts` repeat; `list` also splits at commas. */
type FlagShape = "text" | "list" | "texts" | "switch" | "duration" | "address" | "url" | "choice";

/** One row of the table. The environment variable is `ARCHWAY_` and the name in capitals. */
export interface Flag {
  readonly name: string;
  readonly shape: FlagShape;
  readonly commands: readonly Command[];
  readonly help: string;
  /** Shown in help instead of the shape: `FILE`, `HOST[:PORT]`. */
  readonly placeholder?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Environment variables of wider use that are read when ARCHWAY_… is not set. */
  readonly alsoEnv?: readonly string[];
}

const CLUSTER: readonly Command[] = ["serve", "explain", "report", "release", "taints", "upgrade", "enoexec-daemon"];
const SERVE: readonly Command[] = ["serve", "dev"];
const SERVICES: readonly Command[] = [...SERVE, "enoexec-daemon"];
const REGISTRY: readonly Command[] = ["serve", "inspect", "explain", "report", "index", "dev"];
const INSPECTING: readonly Command[] = ["serve", "inspect", "report", "dev"];
const CONFIGURED: readonly Command[] = ["serve", "inspect", "explain", "report", "index", "cache", "dev", "taints"];
const STORE: readonly Command[] = ["serve", "inspect", "report", "cache", "dev"];

export const FLAGS: readonly Flag[] = [
  flag("config", "list", CONFIGURED, "File with settings that are rarely needed; see docs/configuration.md.", {
    placeholder: "FILE",
  }),
  flag("only", "choice", ["serve"], "Which capability this process serves; each has a Deployment of its own.", {
    choices: ["placement", "upgrades", "image-builds"],
    default: "placement",
  }),
  flag(
    "kubeconfig",
    "text",
    CLUSTER,
    "Kubeconfig file; default the pod's ServiceAccount, outside of a pod ~/.kube/config but for serve and the daemon.",
    { placeholder: "FILE", alsoEnv: ["KUBECONFIG"] },
  ),
  flag(
    "context",
    "text",
    ["explain", "report", "release", "taints", "upgrade"],
    "Context of the kubeconfig; default its current one.",
    { placeholder: "NAME" },
  ),
  flag("namespace", "text", SERVICES, "Namespace Archway runs in; its pods are never touched.", {
    placeholder: "NAME",
    default: "archway-system",
    alsoEnv: ["NAMESPACE", "OPERATOR_NAMESPACE"],
  }),
  flag("node-name", "text", ["enoexec-daemon"], "Node whose exec format errors are reported.", {
    placeholder: "NAME",
    alsoEnv: ["NODE_NAME"],
  }),
  flag("system-namespaces", "list", SERVE, "Namespaces whose pods are left alone; a trailing * matches any suffix.", {
    placeholder: "NAME|PREFIX*",
    default: DEFAULT_SYSTEM_NAMESPACES.join(","),
  }),
  flag("listen", "address", SERVE, "Address of the TLS webhooks.", {
    placeholder: "HOST:PORT",
    default: "0.0.0.0:9443",
  }),
  flag("admin-listen", "address", SERVICES, "Address of metrics, health and the dashboard (plain HTTP).", {
    placeholder: "HOST:PORT",
    default: "0.0.0.0:8080",
  }),
  flag("tls-cert", "text", ["serve"], "Serving certificate, PEM; reloaded when it changes.", { placeholder: "FILE" }),
  flag("tls-key", "text", ["serve"], "Key of the serving certificate, PEM.", { placeholder: "FILE" }),
  flag("tls-ca", "text", ["serve"], "CA that goes into `caBundle`, PEM.", { placeholder: "FILE" }),
  flag("webhook-url", "url", ["serve"], "Register the webhook by this URL instead of by Service.", {
    placeholder: "https://HOST:PORT",
  }),
  flag("max-gate-age", "duration", SERVE, "Longest time a pod may stay gated.", { default: "60s" }),
  flag("warm-admission", "switch", SERVE, "Place pods at admission when all their images are known.", {
    default: "true",
  }),
  flag("audit", "switch", SERVE, "Change nothing; report what would be done."),
  flag("prewarm", "switch", SERVE, "Inspect images of workload templates before pods exist."),
  flag(
    "arch-taints",
    "choice",
    SERVE,
    "Tolerate the architecture taints of clouds; or keep one on every node, and its toleration on every pod.",
    { choices: ["off", "tolerate", "manage"], default: "off" },
  ),
  flag("live-architectures", "switch", SERVE, "Narrow to architectures that nodes have or can be made with."),
  flag("daemonsets", "choice", SERVE, "What to do with DaemonSet pods.", {
    choices: ["ignore", "warn", "constrain"],
    default: "ignore",
  }),
  flag(
    "exec-format-errors",
    "choice",
    SERVE,
    "Containers that run a program of another architecture: report them by the status of pods, place no more on " +
      "architectures that an image only claims, evict them. Each does what those before it do.",
    { choices: ["off", "report", "avoid", "repair"], default: "off" },
  ),
  flag(
    "exec-format-image",
    "text",
    ["serve"],
    "Image of the daemons of the plugin execFormatErrorMonitor; without it none run.",
    { placeholder: "IMAGE" },
  ),
  flag(
    "registry",
    "list",
    REGISTRY,
    "Registry on a loopback, link-local or metadata address that requests may be sent to.",
    { placeholder: "HOST[:PORT]" },
  ),
  flag("registry-ca", "list", REGISTRY, "CA to trust for registries, PEM.", { placeholder: "FILE" }),
  flag("insecure-registry", "list", REGISTRY, "Registry with plain HTTP or an unverifiable certificate.", {
    placeholder: "HOST[:PORT]",
  }),
  flag(
    "global-pull-secret",
    "text",
    ["serve", "explain", "report"],
    "Pull secret for all pods; fine if absent. Another NAME needs a right: docs/registries.md.",
    { placeholder: "NAMESPACE/NAME", default: "openshift-config/pull-secret" },
  ),
  flag("pull-secrets", "choice", ["serve"], "Which pull secrets may be read: those of pods, of our namespace, none.", {
    choices: ["pod", "own-namespace", "none"],
    default: "pod",
  }),
  flag("cache-path", "text", STORE, "File of the image cache; without it the cache is memory only.", {
    placeholder: "FILE",
  }),
  flag("kv-url", "url", STORE, "Shared KV Connect server for the image cache.", { alsoEnv: ["DENO_KV_URL"] }),
  flag("tag-ttl", "duration", INSPECTING, "How long the digest of a tag is used before it is looked up again.", {
    default: "5m",
  }),
  flag(
    "output",
    "choice",
    ["inspect", "index", "explain", "report", "release", "taints", "upgrade", "dev"],
    "Form of the output.",
    { choices: ["table", "json", "yaml"], default: "table" },
  ),
  flag(
    "pod-namespace",
    "text",
    ["explain", "report"],
    "Namespace of the pod; default that of the context, else default. With report: the only one that is read.",
    { placeholder: "NAME" },
  ),
  flag("arch", "text", ["report"], "List what keeps workloads from this architecture.", {
    placeholder: "ARCHITECTURE",
  }),
  flag("trace", "switch", ["inspect"], "Show every HTTP exchange, secrets masked."),
  flag("to", "list", ["index"], "Where the index is published; append and remove without it: where it was.", {
    placeholder: "REGISTRY/REPOSITORY:TAG",
  }),
  flag("annotation", "texts", ["index"], "Annotation of the index that is published.", { placeholder: "KEY=VALUE" }),
  flag("dry-run", "switch", ["release", "index", "taints", "upgrade"], "Show what would be done, do nothing."),
  flag("once", "switch", ["dev"], "Run the samples, print how each ended, exit."),
  flag(
    "scenario",
    "choice",
    ["dev"],
    "Which samples: placement, wrong programs, taints, a migration, an image, odd pods.",
    {
      choices: ["placement", "exec-format-error", "taints", "upgrade", "image-build", "odd-pods"],
      default: "placement",
    },
  ),
];

export const SHORT_FLAGS: Readonly<Record<string, string>> = { output: "o", "pod-namespace": "n" };

function flag(
  name: string,
  shape: Flag["shape"],
  commands: readonly Command[],
  help: string,
  rest: Pick<Flag, "placeholder" | "default" | "choices" | "alsoEnv"> = {},
): Flag {
  return { name, shape, commands, help, ...rest };
}

export function environmentName(name: string): string {
  return `ARCHWAY_${name.toUpperCase().replaceAll("-", "_")}`;
}
