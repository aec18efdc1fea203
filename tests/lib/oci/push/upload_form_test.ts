import assert from "node:assert/strict";
import fc from "fast-check";
import {
  firstForm,
  MAX_PIECE_BYTES,
  MAX_WHOLE_BYTES,
  nextForm,
  type UploadForm,
} from "../../../../lib/oci/push/upload_form.ts";

const MIB = 1024 * 1024;
const WHOLE: UploadForm = { kind: "whole" };
const STREAM: UploadForm = { kind: "stream" };
const pieces = (mib: number): UploadForm => ({ kind: "pieces", bytes: mib * MIB });

Deno.test("firstForm() holds small blobs in memory and streams all others", () => {
  assert.deepEqual([0, MAX_WHOLE_BYTES, MAX_WHOLE_BYTES + 1].map(firstForm), [WHOLE, WHOLE, STREAM]);
});

type Status = Parameters<typeof nextForm>[1]["status"];

const ROWS: readonly (readonly [from: UploadForm, status: Status, least: number, to: UploadForm | undefined])[] = [
  [STREAM, 413, 0, pieces(8)],
  [STREAM, 411, 0, pieces(8)],
  [STREAM, "broken", 0, pieces(8)],
  [STREAM, 400, 0, undefined],
  [STREAM, 401, 0, undefined],
  [STREAM, 403, 0, undefined],
  [STREAM, 500, 0, undefined],
  [WHOLE, 413, 0, pieces(1)],
  [WHOLE, "broken", 0, undefined],
  [WHOLE, 400, 0, undefined],
  [pieces(8), 413, 0, pieces(1)],
  [pieces(8), "broken", 0, undefined],
  [pieces(1), 413, 0, undefined],
  // A registry that wants pieces of some size is given them, as far as memory allows.
  [STREAM, 413, 5 * MIB, pieces(8)],
  [STREAM, 413, 8 * MIB, pieces(8)],
  [STREAM, 413, 16 * MIB, undefined],
  [pieces(8), 413, 5 * MIB, pieces(5)],
];

for (const [form, status, leastPieceBytes, next] of ROWS) {
  const name = `${JSON.stringify(form)} ${status}, pieces of at least ${leastPieceBytes}`;
  Deno.test(`nextForm() after ${name} is ${JSON.stringify(next)} (P-111)`, () => {
    assert.deepEqual(nextForm(form, { status, size: 3 * MIB, leastPieceBytes }), next);
  });
}

Deno.test("nextForm() ends after a few forms, whatever is answered, and never needs more memory than a piece", () => {
  const status = fc.constantFrom<Status>(400, 401, 404, 405, 411, 413, 415, 416, 500, 501, "broken");
  fc.assert(fc.property(
    fc.array(status, { minLength: 8, maxLength: 8 }),
    fc.nat(64 * MIB),
    fc.nat(64 * MIB),
    (answers, size, leastPieceBytes) => {
      let form: UploadForm | undefined = firstForm(size);
      for (const answer of answers) {
        if (form === undefined) return;
        form = nextForm(form, { status: answer, size, leastPieceBytes });
        assert.ok(form?.kind !== "pieces" || form.bytes <= MAX_PIECE_BYTES);
      }
      assert.equal(form, undefined);
    },
  ));
});
