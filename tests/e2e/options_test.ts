import assert from "node:assert/strict";
import { DEFAULT_IMAGE, parseOptions } from "./options.ts";
import { renderOutcomes } from "./outcome.ts";

Deno.test("parseOptions() has a default for everything", () => {
  assert.deepEqual(parseOptions([]), {
    kind: "run",
    options: {
      kubeconfig: undefined,
      context: undefined,
      images: [DEFAULT_IMAGE],
      run: false,
      wrongImage: undefined,
      buildConfig: undefined,
      archwayNamespace: "archway-system",
      namespaceLabels: {},
      timeoutMs: 120_000,
      output: "table",
    },
  });
});

Deno.test("parseOptions() takes images and labels as often as they are given", () => {
  const args = ["--image=a:1", "--image", "b:2", "--namespace-label=x=y", "--run", "-o", "json", "--timeout=5"];
  const parsed = parseOptions(args);
  assert.ok(parsed.kind === "run");
  const { images, namespaceLabels, run, output, timeoutMs } = parsed.options;
  assert.deepEqual({ images, namespaceLabels, run, output, timeoutMs }, {
    images: ["a:1", "b:2"],
    namespaceLabels: { x: "y" },
    run: true,
    output: "json",
    timeoutMs: 5_000,
  });
});

const REFUSED: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [["--output=xml"], /--output is table or json/],
  [["--timeout=soon"], /--timeout is a number of seconds, not "soon"/],
  [["--image=a/b@c@d"], /--image or --wrong-image: /],
  [["--namespace-label=x"], /--namespace-label is KEY=VALUE/],
  [["--no-such-flag"], /no-such-flag/],
];
for (const [args, says] of REFUSED) {
  Deno.test(`parseOptions() refuses ${args.join(" ")}`, () => {
    const parsed = parseOptions(args);
    assert.ok(parsed.kind === "usage");
    assert.match(parsed.problem, says);
  });
}

Deno.test("renderOutcomes() aligns its columns and counts, or gives the outcomes as they are", () => {
  const outcomes = [
    { check: "config is Available", result: "passed", detail: "ready" },
    { check: "metrics", result: "skipped", detail: "not reachable" },
  ] as const;
  assert.equal(
    renderOutcomes(outcomes, "table"),
    "CHECK                 RESULT    WHAT WAS SEEN\n" +
      "config is Available   passed    ready\n" +
      "metrics               skipped   not reachable\n" +
      "1 passed, 0 failed, 1 skipped\n",
  );
  assert.deepEqual(JSON.parse(renderOutcomes(outcomes, "json")), outcomes);
});
