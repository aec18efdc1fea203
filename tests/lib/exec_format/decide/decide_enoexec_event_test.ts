import assert from "node:assert/strict";
import {
  decideEnoexecEvent,
  type EnoexecDecision,
  type EnoexecFacts,
  EVENT_TTL_MS,
} from "../../../../lib/exec_format/decide/decide_enoexec_event.ts";
import { ended, idOf, makeArchNode, makeEventView, makeFailedPod } from "./make.ts";

function eventThat(event: Parameters<typeof makeEventView>[0], ageMs?: number): EnoexecFacts {
  return facts({ event: makeEventView(event), ...ageMs === undefined ? {} : { ageMs } });
}

function facts(overrides: Partial<EnoexecFacts> = {}): EnoexecFacts {
  const pod = makeFailedPod({ status: { state: ended(1) } });
  return { event: makeEventView(), pod, node: makeArchNode("ppc64le"), ageMs: 5_000, ...overrides };
}

function wordOf(decision: EnoexecDecision): string {
  if (decision.kind === "report") {
    return `report ${decision.container?.name ?? "unknown"} ${decision.architecture}`.trim();
  }
  return "error" in decision ? `${decision.kind} ${decision.error}` : decision.kind;
}

const running = makeFailedPod();
const TABLE: Readonly<Record<string, readonly (readonly [title: string, facts: EnoexecFacts])[]>> = {
  "report c ppc64le": [
    ["145 reports the container and the architecture of the node", facts()],
    ["229 handles an event that had been marked before its status came", eventThat({ error: "pod-not-found" })],
    ["takes an event without uid, as the MTO writes it", eventThat({ podUid: "" })],
    ["reports a container that goes on running", facts({ pod: running, ageMs: 2_000 })],
  ],
  "dismiss pod-not-found": [
    ["147 dismisses an event whose pod is away", facts({ pod: undefined })],
    ["dismisses an event of an earlier pod of that name", eventThat({ podUid: "uid-0" })],
  ],
  "dismiss node-not-found": [
    ["148 153 dismisses an event whose node is away", facts({ node: undefined })],
    ["150 155 dismisses an event whose pod is on another node", eventThat({ nodeName: "node-2" })],
  ],
  "report unknown ppc64le": [["149 154 reports an unknown container", eventThat({ containerID: idOf("9") }, 20_000)]],
  wait: [
    ["229 waits for the status of a young event", eventThat({ podName: "" })],
    ["waits for a container that the status does not have yet", eventThat({ containerID: idOf("9") }, 1_000)],
    ["waits a moment for the end of a container", facts({ pod: running, ageMs: 1_000 })],
  ],
  "keep pod-not-found": [["229 keeps an event without pod, marked", eventThat({ podName: "" }, 10_000)]],
  leave: [["leaves an event that is being deleted", eventThat({ isDeleting: true })]],
  expire: [["deletes an event that is too old", facts({ ageMs: EVENT_TTL_MS, pod: undefined })]],
  "report c": [["reports where the node has no architecture label", facts({ node: makeArchNode("") })]],
};
for (const [expected, cases] of Object.entries(TABLE)) {
  for (const [title, given] of cases) {
    const named = title.replace(/^(\d+ )*/, "$&decideEnoexecEvent() ");
    Deno.test(named, () => assert.equal(wordOf(decideEnoexecEvent(given)), expected));
  }
}
