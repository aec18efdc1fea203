// The command line of `deno task test:e2e`. Pure.
import { parseArgs, type ParseArgsConfig } from "node:util";
import { errorText } from "../../lib/log.ts";
import { parseReference } from "../../lib/oci/reference.ts";

export interface EndToEndOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Each must support an architecture that the cluster has. */
  readonly images: readonly string[];
  /** Wait until the containers run, not only until the pods are bound. */
  readonly run: boolean;
  /** Claims an architecture that its program is not for. */
  readonly wrongImage: string | undefined;
  readonly buildConfig: string | undefined;
  readonly archwayNamespace: string;
  /** Labels of the namespaces that are made, for a config that selects by label. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly output: "table" | "json";
}

export type ParsedOptions =
  | { readonly kind: "run"; readonly options: EndToEndOptions }
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string };

export const DEFAULT_IMAGE = "registry.k8s.io/pause:3.10";

const FLAGS = {
  "kubeconfig": { type: "string" },
  "context": { type: "string" },
  "image": { type: "string", multiple: true, default: [DEFAULT_IMAGE] },
  "run": { type: "boolean", default: false },
  "wrong-image": { type: "string" },
  "build-config": { type: "string" },
  "archway-namespace": { type: "string", default: "archway-system" },
  "namespace-label": { type: "string", multiple: true, default: [] },
  "timeout": { type: "string", default: "120" },
  "output": { type: "string", short: "o", default: "table" },
  "help": { type: "boolean", default: false },
} satisfies ParseArgsConfig["options"];

export const HELP =
  `Checks an installed Archway as its user: makes namespaces archway-e2e-*, creates pods there, says what became
of them, and deletes the namespaces.

  deno task test:e2e --kubeconfig FILE

  --kubeconfig FILE          default KUBECONFIG, then ~/.kube/config
  --context NAME             default the current one
  --image REF                an image to place, repeatable; default ${DEFAULT_IMAGE}
  --run                      wait until the containers run; they must not end by themselves
  --wrong-image REF          an image whose program is for another architecture than it claims
  --build-config NAME        a MachineOSConfig of a pool without nodes, whose image is built again
  --archway-namespace NAME   default archway-system
  --namespace-label KEY=VALUE  on the namespaces, repeatable, where spec.namespaceSelector wants one
  --timeout SECONDS          for each check, default 120
  -o, --output table|json    default table

Exit codes: 0 all is well, 1 a check failed, 2 wrong arguments, 3 nothing could be checked.
Rights: CONTRIBUTING.md lists them.
`;

export function parseOptions(args: readonly string[]): ParsedOptions {
  try {
    return checkFlags(parseArgs({ args: [...args], options: FLAGS }).values);
  } catch (error) {
    return usage(errorText(error));
  }
}

type Flags = ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>["values"];

function checkFlags(values: Flags): ParsedOptions {
  if (values.help) return { kind: "help" };
  const { output, image: images } = values;
  if (output !== "table" && output !== "json") return usage("--output is table or json");
  const seconds = Number(values.timeout);
  if (!(seconds > 0)) return usage(`--timeout is a number of seconds, not "${values.timeout}"`);
  const wrong = [...images, values["wrong-image"] ?? []].flat().map(parseReference).find(({ kind }) =>
    kind === "unparsable"
  );
  if (wrong?.kind === "unparsable") return usage(`--image or --wrong-image: ${wrong.fault.message}`);
  const labels = values["namespace-label"].map((label) => label.split("="));
  if (labels.some(({ length }) => length !== 2)) return usage("--namespace-label is KEY=VALUE");
  return {
    kind: "run",
    options: {
      kubeconfig: values.kubeconfig,
      context: values.context,
      images,
      run: values.run,
      wrongImage: values["wrong-image"],
      buildConfig: values["build-config"],
      archwayNamespace: values["archway-namespace"],
      namespaceLabels: Object.fromEntries(labels),
      timeoutMs: seconds * 1_000,
      output,
    },
  };
}

function usage(problem: string): ParsedOptions {
  return { kind: "usage", problem };
}
