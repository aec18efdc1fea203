// Our answers against those that the originals' code gave: see README.md.
import assert from "node:assert/strict";
import { comparedOf, programOf, readRecord } from "./record.ts";
import { hashOf, plain, questionsOf } from "./subject.ts";
import { SUBJECTS } from "./subjects/mod.ts";

for (const subject of SUBJECTS) {
  Deno.test(`${subject.original} answers as we do: ${subject.name}`, async () => {
    const { program, questions: asked, answers, restSha256 } = await readRecord(subject);
    const questions = questionsOf(subject);
    const isCurrent = [program.sha256, asked.sha256];
    const anew = "its program or its questions changed: deno task test:oracles --record";
    assert.deepEqual(isCurrent, [(await programOf(subject.original)).sha256, hashOf(questions)], anew);
    assert.equal(answers.length, Math.min(subject.kept, subject.count));
    const theirs = comparedOf(subject, questions, answers);
    for (const [at, answer] of theirs.entries()) {
      assert.deepEqual(plain(await subject.ours(questions[at], answers[at])), answer, JSON.stringify(questions[at]));
    }
    const rest = await Promise.all(questions.slice(subject.kept).map((given) => subject.ours(given, undefined)));
    assert.equal(hashOf(rest.map(plain)), restSha256, "one of the answers that the record has a hash of differs");
  });
}
