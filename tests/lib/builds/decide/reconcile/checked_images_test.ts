import assert from "node:assert/strict";
import { built, type Simulator } from "../simulator.ts";

const TYPE = "PublishedImageChanged";

function tagOf(bed: Simulator): string {
  return `registry.test/org/os:${bed.build().metadata.name}`;
}

function said(bed: Simulator): readonly unknown[] {
  const { status, reason, message } = Object(bed.condition(bed.config, TYPE));
  return [status, reason, message];
}

type Row = readonly [
  what: string,
  reason: string,
  message: RegExp,
  then: { readonly jobs: readonly string[]; readonly published: number },
  change: (bed: Simulator) => void,
];

const ELSEWHERE = `sha256:${"f".repeat(64)}`;
const NOTHING = { jobs: [], published: 0 } as const;
const AGAIN = { jobs: [], published: 1 } as const;

/** Somebody moves the tag. */
function moveTag(bed: Simulator): void {
  bed.images.set(`registry.test/org/os@${ELSEWHERE}`, { architecture: "amd64", labels: {}, children: [] });
  bed.tags.set(tagOf(bed), ELSEWHERE);
}

const ROWS: readonly Row[] = [
  [
    "the index is gone",
    "Missing",
    /^"registry\.test\/org\/os:worker-.*" is no longer in the registry\./,
    AGAIN,
    (bed) => {
      bed.images.delete(bed.pullSpec());
      bed.tags.delete(tagOf(bed));
    },
  ],
  ["its tag is gone", "Missing", /:worker-.* is no longer/, AGAIN, (bed) => bed.tags.delete(tagOf(bed))],
  ["an image in it is gone", "Missing", /^"registry\.test\/org\/os@sha256:\w+" is no longer/, {
    jobs: ["arm64"],
    published: 1,
  }, (bed) => {
    const [key = ""] = [...bed.images].find(([, { architecture }]) => architecture === "arm64") ?? [];
    bed.images.delete(key);
  }],
  ["the tag moved", "Altered", /^"registry\.test\/org\/os:worker-\w+" names sha256:f+ by now\.$/, NOTHING, moveTag],
  ["the registry has other bytes", "Altered", /Cannot trust it/, NOTHING, (bed) => {
    bed.overrides.set("tag registry.test/org/os@", { kind: "unusable", message: "Cannot trust it." });
  }],
];

for (const [what, reason, message, { jobs, published }, change] of ROWS) {
  Deno.test(`decideBuild() after a check by which ${what}: ${reason}, Jobs [${jobs.join()}], ${published} publications`, () => {
    const bed = built();
    const tag = bed.tags.get(tagOf(bed)) ?? "";
    assert.deepEqual(said(bed), [undefined, undefined, undefined]);
    change(bed);
    bed.checksImages = false;
    bed.settle();
    assert.deepEqual([bed.writes, said(bed)[0]], [0, undefined], "between checks nothing is asked");
    bed.checksImages = true;
    bed.pass();
    bed.checksImages = false;
    const [status, found, text] = said(bed);
    assert.deepEqual([status, found], ["True", reason]);
    assert.match(String(text), message);
    assert.deepEqual(bed.events.filter((event) => event.reason === TYPE).map(({ type }) => type), ["Warning"]);
    bed.settle();
    assert.deepEqual([bed.made, bed.published.length], [jobs, published]);
    const isMended = published > 0;
    assert.equal(said(bed)[0], isMended ? "False" : "True");
    if (isMended) return;
    const { writes } = bed;
    bed.settle();
    assert.equal(bed.writes, writes, "it is said once");
    bed.overrides.clear();
    bed.tags.set(tagOf(bed), tag);
    bed.settle();
    assert.equal(said(bed)[0], "False");
  });
}

Deno.test("a registry that cannot be asked leaves what is said of published images as it is", () => {
  const bed = built();
  bed.overrides.set("tag ", { kind: "unknown", message: "timeout" });
  bed.settle();
  assert.deepEqual([bed.writes, said(bed)[0]], [0, undefined]);
  bed.overrides.clear();
  moveTag(bed);
  bed.settle();
  bed.overrides.set("tag ", { kind: "unknown", message: "timeout" });
  bed.settle();
  assert.equal(said(bed)[0], "True");
});
