import assert from "node:assert/strict";
import { podContainers } from "../../../../lib/exec_format/decide/container.ts";
import { describeFailure, type FailureFacts } from "../../../../lib/exec_format/decide/message.ts";
import { parsePod } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { ended, makeFailedPod } from "./make.ts";

const GATE = "multiarch.openshift.io/scheduling-gate";

function facts(
  { pod = {}, ...rest }: Partial<Omit<FailureFacts, "pod">> & { readonly pod?: Parameters<typeof makeFailedPod>[0] } =
    {},
): FailureFacts {
  const object = makeFailedPod({ status: { state: ended(1) }, ...pod });
  return {
    pod: parsePod(object) ?? assert.fail("no pod"),
    container: podContainers(object)[0],
    architecture: "ppc64le",
    imageArchitectures: ["amd64"],
    refused: "start",
    command: "",
    ...rest,
  };
}

Deno.test("145 describeFailure() begins as the MTO does: container, what it does, architecture of the node", () => {
  const head = 'Container "c" is running a binary incompatible with the node architecture (ppc64le).';
  assert.ok(describeFailure(facts()).startsWith(head));
});

Deno.test("149 154 describeFailure() names no container where it is not known which", () => {
  const text = describeFailure(facts({ container: undefined, architecture: "" }));
  assert.ok(text.startsWith("A container is running a binary incompatible with the node architecture."), text);
});

function placed(word: string, architectures: readonly string[] = []): FailureFacts {
  const annotations = { "archway.dev/decision": JSON.stringify({ v: 1, d: word, a: architectures, i: [] }) };
  return facts({ pod: { metadata: { labels: { [GATE]: "removed" }, annotations } } });
}

const OF_DAEMON = facts({
  pod: { metadata: { ownerReferences: [{ kind: "DaemonSet", name: "d", controller: true }] } },
});
const PASSED = { labels: { [GATE]: "not-set" } };

const ADVICE: readonly (readonly [title: string, facts: FailureFacts, expected: RegExp])[] = [
  ["names image and architectures", facts(), /Image single-amd64 has amd64\..*Build it for ppc64le/],
  ["names the node", facts(), /\(ppc64le\)\. Its node is node-1\. Image /],
  ["names the command", facts({ command: "/opt/tool" }), /\(ppc64le\): \/opt\/tool\./],
  ["says that the pod was not gated", facts(), /Archway has not placed this pod/],
  ["says that its DaemonSet put it there", OF_DAEMON, /DaemonSet has a pod on every node/],
  ["says that it fell back", placed("fallback", ["ppc64le"]), /fell back to the configured architecture/],
  ["says that it was released", placed("release"), /released without constraint/],
  ["says that the image has changed since", placed("place", ["ppc64le"]), /image has changed since the pod was placed/],
  [
    "says that the pod asked for the node's architecture",
    facts({ pod: { metadata: PASSED, spec: { nodeSelector: { "kubernetes.io/arch": "ppc64le" } } } }),
    /Its own nodeSelector or affinity names kubernetes.io\/arch/,
  ],
  ["says that the pod named its node", facts({ pod: { metadata: PASSED } }), /named its node itself/],
  [
    "says that an image claims what it does not have",
    facts({ imageArchitectures: ["amd64", "ppc64le"] }),
    /claims ppc64le, but the program in it is for another architecture/,
  ],
  [
    "speaks of other programs where the container goes on, or its pod changes what it starts",
    facts({ imageArchitectures: ["ppc64le"], pod: { status: { state: { running: {} } } } }),
    /a program that the container starts .* has not, or is no program/,
  ],
  [
    "says that the image could not be inspected",
    facts({ imageArchitectures: undefined }),
    /Archway could not inspect the image single-amd64/,
  ],
  [
    "says of a refused pull what the runtime said",
    facts({ refused: "pull", imageArchitectures: undefined }),
    /^Container "c" cannot run: its image has nothing for/,
  ],
];
for (const [title, given, expected] of ADVICE) {
  Deno.test(`describeFailure() ${title}`, () => {
    const text = describeFailure(given);
    assert.match(text, expected);
    assert.ok(text.length <= 1_024, "no event takes more");
  });
}
