// Takes the taint off every node, and can do nothing else: each taint is pinned by a `test`.
import { type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { Resource } from "../../k8s/types.ts";
import { untaintPatch } from "../decide/judge_node.ts";
import type { TaintNode } from "../decide/types.ts";
import { parseTaintNode } from "../decide/views.ts";
import type { Pace } from "../../k8s/write_pace.ts";
import { patchNode, type WriteOutcome } from "./write.ts";

export interface LifterDeps {
  readonly api: ReadApi & Pick<KubeApi, "patch">;
  readonly key: string;
  readonly pace: Pace;
  /** Nodes that are written side by side. Default 1. */
  readonly parallel?: number | undefined;
}

export interface Lifted {
  readonly lifted: readonly string[];
  readonly left: readonly { readonly node: string; readonly reason: string }[];
}

export interface LiftOptions {
  readonly signal: AbortSignal;
  readonly dryRun?: boolean;
  readonly goesOn?: () => boolean;
}

/** A client that can only take one taint off. */
export interface TaintLifter {
  lift(options: LiftOptions): Promise<Lifted>;
}

/** Reads of a node whose taints others change at the same time. */
const TRIES = 3;

export function openTaintLifter(deps: LifterDeps): TaintLifter {
  return {
    lift: async ({ signal, dryRun = false, goesOn = () => true }) => {
      const lifted: string[] = [];
      const left: { node: string; reason: string }[] = [];
      const nodes = (await listTainted(deps, signal)).values();
      const worker = async (): Promise<void> => {
        for (const node of nodes) {
          const { name } = node;
          if (!goesOn()) break;
          const outcome = dryRun ? { kind: "written" } as const : await untaint(deps, node, signal);
          if (outcome.kind === "written") lifted.push(name);
          else if (outcome.kind !== "gone") left.push({ node: name, reason: reasonOf(outcome) });
        }
      };
      await Promise.all(Array.from({ length: deps.parallel ?? 1 }, worker));
      return { lifted, left };
    },
  };
}

/** As views: a node has some ten kilobytes, most of them the images that it holds. */
async function listTainted({ api, key }: LifterDeps, signal: AbortSignal): Promise<readonly TaintNode[]> {
  const found = new Map<string, TaintNode>();
  for await (const object of listAll(api, Resource.nodes, { signal })) {
    const node = parseTaintNode(object);
    if (untaintPatch(node, key).length > 0) found.set(node.name, node);
  }
  return [...found.values()];
}

async function untaint({ api, key, pace }: LifterDeps, node: TaintNode, signal: AbortSignal): Promise<WriteOutcome> {
  const { name } = node;
  let current: TaintNode | undefined = node;
  for (let tries = 1;; tries++) {
    const operations = current === undefined ? [] : untaintPatch(current, key);
    if (operations.length === 0) return { kind: "gone" };
    await pace.turn(signal);
    const outcome = await patchNode({ api, signal }, { name, operations });
    if (outcome.kind !== "stale" || tries === TRIES) return outcome;
    const object = await readOptional(api, { type: Resource.nodes, name, signal });
    current = object === undefined ? undefined : parseTaintNode(object);
  }
}

function reasonOf(outcome: WriteOutcome): string {
  return outcome.kind === "failed" ? outcome.why : "its taints change all the time";
}
