import assert from "node:assert/strict";
import { renderDocument } from "../../../lib/cli/output.ts";
import { parse as parseYaml } from "yaml";
import type { AssembleResult, JoinedImage } from "../../../lib/publishing/assemble/assemble_index.ts";
import type { ChildCopy } from "../../../lib/publishing/assemble/copy_children.ts";
import type { InspectedIndex } from "../../../lib/publishing/assemble/inspect_index.ts";
import {
  lossesOf,
  renderAssembled,
  renderIndex,
  sentencesOf,
  toAssembled,
  toInspectedIndex,
} from "../../../lib/cli/index_text.ts";
import { ProgressLine, renderProgress } from "../../../lib/cli/progress_line.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const OLD = `sha256:${"cd".repeat(32)}`;
const MIB = 1024 * 1024;
const TARGET = "quay.io/team/app:v1";
const OF = { target: TARGET, requests: 12 };

const NONE: ChildCopy = { kind: "in place", present: 0, mounted: 0, copied: 0, foreign: 0, bytes: 0 };

function joined(architecture: string, copy: ChildCopy): JoinedImage {
  const platform = { os: "linux", architecture };
  const image = `quay.io/team/app:v1-${architecture}`;
  return { image, platform, digest: DIGEST, mediaType: "a/b", size: 400, copy, leftOut: [], findings: [] };
}

const MADE: Exclude<AssembleResult, { kind: "failed" }> = {
  kind: "published",
  index: { form: "oci", mediaType: "application/vnd.oci.image.index.v1+json", text: "{}", digest: DIGEST },
  repository: "quay.io/team/app",
  replaced: OLD,
  images: [
    joined("amd64", NONE),
    joined("arm64", { kind: "copied", present: 1, mounted: 2, copied: 3, foreign: 1, bytes: 5 * MIB }),
  ],
};

Deno.test("index assemble prints what became of each image, and what the tag names now", () => {
  assert.equal(
    renderAssembled([toAssembled(MADE, OF)]),
    `PLATFORM      IMAGE                       DIGEST                 CONTENT
linux/amd64   quay.io/team/app:v1-amd64   sha256:abababababab…   in place
linux/arm64   quay.io/team/app:v1-arm64   sha256:abababababab…   blobs: 1 present, 2 mounted, 3 copied (5.0 MiB), 1 left where they are

Published quay.io/team/app:v1
  Reference    quay.io/team/app@${DIGEST}
  Media type   application/vnd.oci.image.index.v1+json
  Replaced     ${OLD}
  Requests     12
`,
  );
});

Deno.test("index assemble reports what a dry run would do, and that nothing had to be done", () => {
  const copy: ChildCopy = { ...NONE, kind: "to be copied", bytes: MIB };
  const planned = renderAssembled([toAssembled({ ...MADE, kind: "planned", images: [joined("amd64", copy)] }, OF)]);
  assert.match(planned, /to be copied, at most 1\.0 MiB\n\nWould publish quay\.io\/team\/app:v1\n/);
  assert.match(planned, /Would replace {3}sha256:cd/);
  const unchanged = renderAssembled([toAssembled({ ...MADE, kind: "unchanged", replaced: undefined }, OF)]);
  assert.match(unchanged, /\nUnchanged quay\.io\/team\/app:v1\n/);
  assert.doesNotMatch(unchanged, /Replaced/);
});

Deno.test("index assemble gives programs the same as JSON and YAML", () => {
  const assembled = toAssembled(MADE, OF);
  const json = JSON.parse(renderDocument(assembled, "json"));
  assert.deepEqual(parseYaml(renderDocument(assembled, "yaml")), json);
  const { outcome, reference, digest, replaced, requests, problems, images } = json;
  assert.deepEqual([outcome, digest, replaced, requests, problems], ["published", DIGEST, OLD, 12, []]);
  assert.equal(reference, `quay.io/team/app@${DIGEST}`);
  const platforms = MADE.images.map(({ platform }) => platform);
  assert.deepEqual(images.map(({ platform }: { platform: unknown }) => platform), platforms);
});

Deno.test("index assemble reports in sentences what is wrong, and what became of the tag", () => {
  const what = { reason: "DuplicatePlatform", message: 'Cannot join "a": so.' } as const;
  const problem = { kind: "permanent", ...what, image: "a" } as const;
  const failed: AssembleResult = { kind: "failed", problems: [problem], isTagWritten: false };
  assert.deepEqual(sentencesOf(toAssembled(failed, OF)), [
    'Cannot join "a": so.',
    "Nothing was published: quay.io/team/app:v1 is as it was.",
  ]);
  const [, last] = sentencesOf(toAssembled({ ...failed, isTagWritten: true }, OF));
  assert.match(last ?? "", /^It is unknown whether .* was written: look with `archway index inspect/);
  const json = JSON.parse(renderDocument(toAssembled(failed, OF), "json"));
  assert.deepEqual([json.outcome, json.problems, json.tagWritten], ["failed", [problem], false]);
});

Deno.test("index assemble names what does not come along: entries beside an image, referrers of a copied one", () => {
  const [amd64, arm64] = [joined("amd64", NONE), joined("arm64", { ...NONE, kind: "to be copied" })];
  const images = [{ ...amd64, leftOut: [{ kind: "attestation", digest: OLD } as const] }, arm64];
  assert.deepEqual(lossesOf(toAssembled({ ...MADE, images }, OF)), [
    `The index does not hold what "quay.io/team/app:v1-amd64" has beside its image: attestation ${OLD}.`,
    'Signatures and other referrers of "quay.io/team/app:v1-arm64" are not copied with it.',
  ]);
  assert.deepEqual(lossesOf(toAssembled({ ...MADE, images: [amd64] }, OF)), []);
});

Deno.test("index assemble warns of a platform that an index claims and the image's config does not", () => {
  const message = `The index says linux/arm64 for ${DIGEST}, its config says linux/amd64.`;
  const image = { ...joined("amd64", NONE), findings: [{ kind: "PlatformMismatch", message } as const] };
  assert.deepEqual(lossesOf(toAssembled({ ...MADE, images: [image] }, OF)), [
    `"quay.io/team/app:v1-amd64": ${message} The config counts.`,
  ]);
});

const INDEX: InspectedIndex = {
  kind: "index",
  resolved: TARGET,
  digest: DIGEST,
  mediaType: "application/vnd.oci.image.index.v1+json",
  size: 900,
  entries: [
    {
      kind: "image",
      platform: { os: "linux", architecture: "arm64" },
      digest: OLD,
      mediaType: "a/b",
      size: 7,
      findings: [{ kind: "PlatformMismatch", message: "The index says linux/arm64, its config linux/amd64." }],
    },
    { kind: "attestation", digest: DIGEST, mediaType: "a/b", size: 8, findings: [] },
  ],
};

Deno.test("index inspect prints every entry with what is wrong with it", () => {
  assert.equal(
    renderIndex(toInspectedIndex(INDEX, { image: "app:v1", requests: 3 })),
    `PLATFORM      KIND          DIGEST                                                                    SIZE   CONFIG
linux/arm64   image         ${OLD}   7      PlatformMismatch
-             attestation   ${DIGEST}   8      ok

app:v1
  Resolved     quay.io/team/app:v1
  Kind         index
  Digest       ${DIGEST}
  Media type   application/vnd.oci.image.index.v1+json
  Finding      The index says linux/arm64, its config linux/amd64.
  Requests     3
`,
  );
  const single = renderIndex(toInspectedIndex({ ...INDEX, kind: "image" }, { image: "app:v1", requests: 3 }));
  assert.match(single, /Kind +a single image, not an index\n/);
});

Deno.test("index inspect gives programs the entries, or the error", () => {
  const json = JSON.parse(renderDocument(toInspectedIndex(INDEX, { image: "app:v1", requests: 3 }), "json"));
  assert.deepEqual([json.image, json.kind, json.digest, json.entries.length], ["app:v1", "index", DIGEST, 2]);
  const problem = { kind: "transient", reason: "Timeout", message: "Cannot read it." } as const;
  const failed = toInspectedIndex({ kind: "failed", problem }, { image: "app:v1", requests: 3 });
  assert.deepEqual(parseYaml(renderDocument(failed, "yaml")).error, problem);
});

Deno.test("a progress line is written over, not too often, and leaves nothing behind", async () => {
  const clock = new FakeClock();
  const written: string[] = [];
  const line = new ProgressLine({ write: (text) => void written.push(text), clock });
  const at = (doneBytes: number): void => line.show(renderProgress({ image: "a:1", doneBytes, totalBytes: 4 * MIB }));
  at(MIB);
  at(2 * MIB);
  await clock.advance(3_000);
  at(3 * MIB);
  line.clear();
  line.clear();
  assert.deepEqual(written, [
    "\r\x1b[KCopying a:1: 1.0 of 4.0 MiB (25 %), 0 s",
    "\r\x1b[KCopying a:1: 3.0 of 4.0 MiB (75 %), 3 s",
    "\r\x1b[K",
  ]);
  assert.equal(renderProgress({ image: "a:1", doneBytes: 0, totalBytes: 0 }), "Copying a:1: 0.0 of 0.0 MiB (100 %)");
});
