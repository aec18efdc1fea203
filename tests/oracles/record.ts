// The record of what an original answered: where it is, what is in it, and how it is written.
import { createHash } from "node:crypto";
import { z } from "zod";
import { hashOf, type Original, plain, questionsOf, type Subject } from "./subject.ts";

const FOLDER = new URL("./", import.meta.url);

const RecordSchema = z.object({
  original: z.object({ repository: z.string(), commit: z.string() }),
  /** The program that asked it: its folder, and a hash of its sources. */
  program: z.object({ path: z.string(), sha256: z.string() }),
  recorded: z.string(),
  questions: z.object({ count: z.number(), sha256: z.string() }),
  answers: z.array(z.unknown()),
  /** Hash of the answers that follow those. */
  restSha256: z.string(),
});

export type OracleRecord = z.infer<typeof RecordSchema>;

export async function readRecord(subject: Subject): Promise<OracleRecord> {
  return RecordSchema.parse(JSON.parse(await Deno.readTextFile(recordFile(subject))));
}

export async function writeRecord(subject: Subject, commit: string, answers: readonly unknown[]): Promise<void> {
  const { original, kept } = subject;
  const questions = questionsOf(subject);
  const record: OracleRecord = {
    original: { repository: `github.com/openshift/${original}`, commit },
    program: await programOf(original),
    recorded: new Date().toISOString().slice(0, 10),
    questions: { count: questions.length, sha256: hashOf(questions) },
    answers: answers.slice(0, kept),
    restSha256: hashOf(comparedOf(subject, questions, answers).slice(kept)),
  };
  const { answers: kinds, ...head } = record;
  const lines = kinds.map((answer) => `    ${JSON.stringify(answer)}`).join(",\n");
  const text = JSON.stringify(head, undefined, 2).replace(/\n}$/, `,\n  "answers": [\n${lines}\n  ]\n}\n`);
  await Deno.writeTextFile(recordFile(subject), text);
}

/** The parts of the original's answers that ours are compared with. */
export function comparedOf(
  { compared }: Subject,
  questions: readonly unknown[],
  answers: readonly unknown[],
): readonly unknown[] {
  return answers.map((answer, at) => compared === undefined ? answer : plain(compared(answer, questions[at])));
}

export async function programOf(original: Original): Promise<OracleRecord["program"]> {
  const files = ["programs/answers.go", ...await goFiles(`programs/${original}`)].toSorted();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\n${await Deno.readTextFile(new URL(file, FOLDER))}`);
  return { path: `tests/oracles/programs/${original}`, sha256: hash.digest("hex") };
}

async function goFiles(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, FOLDER))) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await goFiles(path));
    else if (name.endsWith(".go")) found.push(path);
  }
  return found;
}

function recordFile({ name }: Subject): URL {
  return new URL(`records/${name}.json`, FOLDER);
}
