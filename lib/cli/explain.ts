// `archway explain pod/NAME`: why a pod is where it is, from what is written on it. Called by main.
import { stringify } from "yaml";
import type { KubeApi } from "../k8s/api.ts";
import { isNotFound } from "../k8s/errors.ts";
import { Resource, splitKey } from "../k8s/types.ts";
import { explainPod } from "../placement/explain.ts";
import { parsePod } from "../placement/pod_view.ts";
import { parseRecord } from "../placement/record.ts";
import { PodAnnotation } from "../names.ts";
import type { PodView } from "../placement/types.ts";
import { ExitCode, type Terminal } from "./output.ts";

/** Reads the pod and explains it; 1 when there is no such pod. */
export async function runExplain(
  parts: { readonly api: KubeApi; readonly terminal: Terminal },
  options: {
    readonly operands: readonly string[];
    readonly podNamespace: string;
    readonly output: "table" | "json" | "yaml";
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const { api, terminal } = parts;
  const target = podTarget(options.operands[0] ?? "", options.podNamespace);
  try {
    const pod = parsePod(await api.get(Resource.pods, target, options.signal));
    if (pod === undefined) throw new Error(`Cannot explain "${target.namespace}/${target.name}": it is no pod.`);
    terminal.out(renderExplanation(pod, options.output));
    return ExitCode.done;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    terminal.err(`archway: Cannot explain pod "${target.name}": there is none in namespace "${target.namespace}".\n`);
    return ExitCode.no;
  }
}

/** `pod/NAME` and `NAME` are in the namespace of the flag; `NAMESPACE/NAME` says its own. Pure. */
export function podTarget(
  operand: string,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  const name = /^pods?\/(.+)$/.exec(operand)?.[1] ?? operand;
  return { namespace, ...splitKey(name) };
}

/** The explanation in the wanted form. Pure. */
export function renderExplanation(pod: PodView, output: "table" | "json" | "yaml"): string {
  const lines = explainPod(pod);
  if (output === "table") return `${pod.namespace}/${pod.name}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const record = parseRecord(pod.annotations?.[PodAnnotation.decision]);
  const document = { namespace: pod.namespace, pod: pod.name, node: pod.nodeName, explanation: lines, record };
  return output === "json" ? `${JSON.stringify(document, null, 2)}\n` : stringify(document);
}
