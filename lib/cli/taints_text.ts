// What `archway taints` prints. Pure.
import { printable } from "../json.ts";
import type { Lifted } from "../taints/cluster/write.ts";
import type { PodAcceptance, TaintPlan } from "../taints/decide/plan.ts";
import { nameSome } from "../vocabulary/condition.ts";
import { renderTable } from "./output.ts";
import type { AppliedTaints } from "./taints_apply.ts";

export function renderPlan({ nodes, pods, daemonSets, taint: { key, effect } }: TaintPlan, width?: number): string {
  const rows = nodes.map(({ node, architecture, action, reason }) => [node, architecture, action, reason]);
  const sections = [
    nodes.length === 0
      ? "The cluster has no nodes.\n"
      : renderTable(["NODE", "ARCHITECTURE", "ACTION", "REASON"], rows, width),
    pods.length === 0 ? "" : renderTable(
      ["POD THAT GETS ITS TOLERATION FROM apply", "NODE", "TOLERATION", "ACCEPTS IT"],
      pods.map((pod) => [pod.pod, pod.node || "(pending)", pod.lacks.join(", "), acceptance(pod)]),
      width,
    ),
    daemonSets.length === 0 ? "" : renderTable(
      ["DAEMONSET THAT YOU MUST CHANGE", "NODES", "ADD TO ITS TEMPLATE"],
      daemonSets.map(({ daemonSet, nodes, lacks }) => [daemonSet, nameSome(nodes), lacks.join(", ")]),
      width,
    ),
  ];
  const count = (action: string): number => nodes.filter((node) => node.action === action).length;
  const actions = ["add", "repair", "remove", "keep"].map((action) => `${action} ${count(action)}`).join(", ");
  const shutOut = [
    ...pods.length === 0
      ? []
      : [`pods (${pods.length}), which get their toleration from \`apply\` first${exceptions(pods)}`],
    ...daemonSets.length === 0 ? [] : [`DaemonSets (${daemonSets.length}), which you must change`],
  ].join(", and ") || "nothing";
  return [
    ...sections.filter((section) => section !== ""),
    `Taint ${key}=ARCH:${effect} on ${nodes.length} nodes: ${actions}. ` +
    `The taints would shut out ${shutOut}. Nothing was changed.\n`,
  ].join("\n");
}

function acceptance({ accepts, reason }: PodAcceptance): string {
  // A policy's message can repeat text of the pod's owner.
  return reason === "" ? accepts : `${accepts}: ${printable(reason)}`;
}

/** How many pods refuse the toleration, or may refuse it. */
function exceptions(pods: readonly PodAcceptance[]): string {
  const count = (accepts: PodAcceptance["accepts"]): number => pods.filter((pod) => pod.accepts === accepts).length;
  const parts = [
    ...count("no") === 0 ? [] : [`${count("no")} refuse it`],
    ...count("unknown") === 0 ? [] : [`of ${count("unknown")} that is not known`],
  ];
  return parts.length === 0 ? "" : `, but ${parts.join(" and ")}`;
}

export function renderApplied({ end, toleratedPods, taintedNodes, message }: AppliedTaints): string {
  const advice = end === "done"
    ? "New pods get the toleration where `archway serve` runs with --arch-taints=manage, or tolerate."
    : "Nothing more could be written. Fix what the message names, then run it again.";
  return `${message}\nPods given tolerations: ${toleratedPods}. Nodes tainted: ${taintedNodes}.\n${advice}\n`;
}

export function renderLifted(
  { lifted, left }: Lifted,
  { dryRun, key, width }: { readonly dryRun: boolean; readonly key: string; readonly width: number | undefined },
): string {
  const names = [...lifted].sort();
  if (names.length + left.length === 0) return `No node carries the taint ${key}.\n`;
  const verb = dryRun ? "would untaint" : "untainted";
  const rows = [
    ...names.map((node) => [node, verb, ""]),
    ...left.map(({ node, reason }) => [node, "still tainted", printable(reason)]),
  ];
  return `${renderTable(["NODE", "RESULT", "REASON"], rows, width)}\n` +
    `${names.length} ${verb}, ${left.length} still tainted. Tolerations stay on pods, where they do no harm; nothing was ` +
    "deleted. An Archway with --arch-taints=manage puts the taints back: switch it off first.\n";
}
