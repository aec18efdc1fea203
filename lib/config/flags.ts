// Every flag of every command as one table: name, environment variable, shape, default, help.
import * as z from "zod";
import { DEFAULT_SYSTEM_NAMESPACES } from "../names.ts";
import { SHAPES } from "./values.ts";

/** The commands of `archway`. `cache export`, `index assemble` and the like are one command with a verb. */
export const COMMANDS = [
  "serve",
  "dev",
  "inspect",
  "index",
  "explain",
  "report",
  "ungate",
  "cache",
  "taints",
  "upgrade",
  "enoexec-daemon",
  "completion",
] as const;

export type Command = typeof COMMANDS[number];

/** The verbs of commands that have some: their first positional. */
export const VERBS = {
  index: ["assemble", "append", "remove", "inspect"],
  taints: ["plan", "apply", "clean"],
  upgrade: ["status", "plan", "suspend", "resume"],
  cache: ["export", "import"],
  completion: ["bash", "zsh", "fish"],
} as const satisfies CommandVerbs;

type CommandVerbs = Partial<Readonly<Record<Command, readonly string[]>>>;

export function verbsOf(command: Command): readonly string[] {
  const { [command]: verbs = [] }: CommandVerbs = VERBS;
  return verbs;
}

/** One row of the table. The environment variable is `ARCHWAY_` and the name in capitals. */
export interface Flag {
  readonly name: string;
  readonly shape: keyof typeof SHAPES | "choice";
  readonly commands: readonly Command[];
  readonly help: string;
  /** Its one letter, as in `-o`. */
  readonly short?: string;
  /** Shown in help instead of the shape: `FILE`, `HOST[:PORT]`. */
  readonly placeholder?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Environment variables of wider use that are read when ARCHWAY_… is not set. */
  readonly alsoEnv?: readonly string[];
}

const CLUSTER: readonly Command[] = ["serve", "explain", "report", "ungate", "taints", "upgrade", "enoexec-daemon"];
const SERVE: readonly Command[] = ["serve", "dev"];
const SERVICES: readonly Command[] = [...SERVE, "enoexec-daemon"];
const REGISTRY: readonly Command[] = ["serve", "inspect", "explain", "report", "index", "dev"];
const INSPECTING: readonly Command[] = ["serve", "inspect", "report", "dev"];
const CONFIGURED: readonly Command[] = ["serve", "inspect", "explain", "report", "index", "cache", "dev", "taints"];
const STORE: readonly Command[] = ["serve", "inspect", "report", "cache", "dev"];

const TABLE = [
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
    ["explain", "report", "ungate", "taints", "upgrade"],
    "Context of the kubeconfig; default its current one.",
    { placeholder: "NAME" },
  ),
  flag("namespace", "namespace", SERVICES, "Namespace Archway runs in; its pods are never touched.", {
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
    "hosts",
    REGISTRY,
    "Registry on a loopback, link-local or metadata address that requests may be sent to.",
    { placeholder: "HOST[:PORT]" },
  ),
  flag("registry-ca", "list", REGISTRY, "CA to trust for registries, PEM.", { placeholder: "FILE" }),
  flag("insecure-registry", "hosts", REGISTRY, "Registry with plain HTTP or an unverifiable certificate.", {
    placeholder: "HOST[:PORT]",
  }),
  flag(
    "global-pull-secret",
    "secretName",
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
    ["inspect", "index", "explain", "report", "ungate", "taints", "upgrade", "dev"],
    "Form of the output.",
    { short: "o", choices: ["table", "json", "yaml"], default: "table" },
  ),
  flag(
    "pod-namespace",
    "text",
    ["explain", "report"],
    "Namespace of the pod; default that of the context, else default. With report: the only one that is read.",
    { short: "n", placeholder: "NAME" },
  ),
  flag("arch", "architecture", ["report"], "List what keeps workloads from this architecture.", {
    placeholder: "ARCHITECTURE",
  }),
  flag("trace", "switch", ["inspect"], "Show every HTTP exchange, secrets masked."),
  flag("to", "list", ["index"], "Where the index is published; append and remove without it: where it was.", {
    placeholder: "REGISTRY/REPOSITORY:TAG",
  }),
  flag("annotation", "texts", ["index"], "Annotation of the index that is published.", { placeholder: "KEY=VALUE" }),
  flag("dry-run", "switch", ["ungate", "index", "taints", "upgrade"], "Show what would be done, do nothing."),
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

export const FLAGS: readonly Flag[] = TABLE;

type Row = typeof TABLE[number];

/** The value of every flag, by its name in camel case. */
export type ConfigValues = { readonly [R in Row as Camel<R["name"]>]: ValueOf<R> };

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type ValueOf<R extends Row> = R["shape"] extends keyof typeof SHAPES ? z.infer<typeof SHAPES[R["shape"]]>
  : NonNullable<R["choices"]>[number];

export function flagsOf(command: Command): readonly Flag[] {
  return FLAGS.filter(({ commands }) => commands.includes(command));
}

/** Reads the value of every flag from its text, or texts. */
export const Values = z.object(Object.fromEntries(FLAGS.map((flag) => [camel(flag.name), schemaOf(flag)])))
  .transform((values) => values as ConfigValues);

function schemaOf({ shape, choices = [] }: Flag): z.ZodType {
  return shape === "choice" ? z.enum(choices, { error: `is not one of ${choices.join(", ")}` }) : SHAPES[shape];
}

interface TypedFlag<Name extends string, Shape extends Flag["shape"], Choice extends string> extends Flag {
  readonly name: Name;
  readonly shape: Shape;
  readonly choices?: readonly Choice[];
}

function flag<const Name extends string, Shape extends Flag["shape"], const Choice extends string = never>(
  name: Name,
  shape: Shape,
  commands: readonly Command[],
  help: string,
  rest: Omit<TypedFlag<Name, Shape, Choice>, "name" | "shape" | "commands" | "help"> = {},
): TypedFlag<Name, Shape, Choice> {
  return { name, shape, commands, help, ...rest };
}

export function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function environmentName(name: string): string {
  return `ARCHWAY_${name.toUpperCase().replaceAll("-", "_")}`;
}
