import assert from "node:assert/strict";
import { indexProblem, indexTarget } from "../../../lib/config/positionals.ts";
import { parseConfig } from "../../../lib/config/parse.ts";

const TO = "quay.io/team/app:v1";

Deno.test("indexTarget() takes the words apart", () => {
  assert.deepEqual(indexTarget(["assemble", "a", "b"]), { verb: "assemble", images: ["a", "b"] });
  assert.deepEqual(indexTarget(["inspect", "a"]), { verb: "inspect", images: ["a"] });
  assert.equal(indexTarget(["push", "a"]), undefined);
});

const ROWS: readonly (readonly [
  words: readonly string[],
  to: string | undefined,
  says: RegExp | undefined,
  annotation?: string,
])[] = [
  [["assemble", "a"], TO, undefined],
  [["assemble", "a", "b"], "localhost:5000/app:v1", undefined],
  [["inspect", "a"], undefined, undefined],
  [[], undefined, /use `archway index assemble --to/],
  [["push"], TO, /use `archway index assemble --to/],
  [["assemble"], TO, /name one image for each architecture/],
  [["assemble", "a"], undefined, /say where the index goes by --to/],
  [["assemble", "a"], "team/app:v1", /names no registry/],
  [["assemble", "a"], "quay.io/team/app", /has no tag/],
  [["assemble", "a"], `quay.io/team/app@sha256:${"ab".repeat(32)}`, /gets its digest from its images/],
  [["assemble", "a"], "quay.io/Team/app:v1", /lower-case/],
  [["inspect"], undefined, /name one index/],
  [["inspect", "a", "b"], undefined, /name one index/],
  [["inspect", "a"], TO, /writes nothing/],
  [["inspect", "a"], undefined, /writes nothing/, "a=b"],
  [["append", TO, "a"], undefined, undefined],
  [["append", TO], undefined, /use `archway index append INDEX IMAGE…`/],
  [["remove", TO], undefined, /use `archway index remove INDEX PLATFORM…`/],
  [["remove", TO, "linux/arm64"], "localhost:5000/app:v1", undefined],
  [["remove", `quay.io/team/app@sha256:${"ab".repeat(32)}`, "linux/arm64"], undefined, /Name a tag/],
  [["assemble", "a"], TO, undefined, "org.example/note=a=b, c"],
  [["assemble", "a"], TO, /write it as KEY=VALUE/, "=b"],
];

for (const [words, to, says, annotation] of ROWS) {
  const noted = annotation === undefined ? "" : ` with ${annotation}`;
  Deno.test(`indexProblem() of "${words.join(" ")}" to ${to ?? "nowhere"}${noted} is ${says?.source ?? "none"}`, () => {
    const given = [annotation].filter((text) => text !== undefined);
    const problem = indexProblem(words, { to: to === undefined ? [] : [to], annotation: given });
    if (says === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? "", says);
  });
}

Deno.test("parseConfig() gives index the registry flags, --to, --annotation and --dry-run", () => {
  const notes = ["--annotation", "a=one, two", "--annotation", "b="];
  const flags = ["--to", TO, ...notes, "--dry-run", "--registry", "a:5000", "-o", "json"];
  const args = ["index", "assemble", ...flags, "one", "two"];
  const parsed = parseConfig(args, { env: {}, readFile: () => "" });
  assert.ok(parsed.kind === "run", JSON.stringify(parsed));
  const { to, annotation, dryRun, registry, output, positionals } = parsed.config;
  assert.deepEqual([to, dryRun, registry, output], [[TO], true, ["a:5000"], "json"]);
  assert.deepEqual(annotation, ["a=one, two", "b="]);
  assert.deepEqual(positionals, ["assemble", "one", "two"]);
});
