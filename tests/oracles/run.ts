// `deno task test:oracles`: asks the originals themselves, and compares or records what they answer. See README.md.
import { isDeepStrictEqual, parseArgs } from "node:util";
import { comparedOf, writeRecord } from "./record.ts";
import { compareRendering } from "./rendering/record.ts";
import { plain, questionsOf, type Subject } from "./subject.ts";
import { SUBJECTS } from "./subjects/mod.ts";
import { runCommand } from "../support/commands.ts";

const HELP = `deno task test:oracles --copies DIR [--only NAME] [--record]

DIR/NAME is a git checkout of the repository of each original, with a program archway-oracle that was built in it: see
tests/oracles/README.md.
`;

const text = new TextDecoder();
const encoder = new TextEncoder();

function print(line: string): void {
  Deno.stdout.writeSync(encoder.encode(`${line}\n`));
}

/** One line for each question, one line for each answer. */
async function askAll(copy: string, { ask, original }: Subject, questions: readonly unknown[]): Promise<unknown[]> {
  const lines = questions.map((given) => JSON.stringify({ ask, given })).join("\n");
  const program = new Deno.Command(`${copy}/archway-oracle`, { stdin: "piped", stdout: "piped", stderr: "piped" });
  await using child = program.spawn();
  const written = new Response(lines).body?.pipeTo(child.stdin);
  const [{ success, stdout, stderr }] = await Promise.all([child.output(), written]);
  if (!success) throw new Error(`Cannot ask ${original}: ${text.decode(stderr)}`);
  return text.decode(stdout).trim().split("\n").map((line): unknown => JSON.parse(line));
}

async function commitOf(copy: string): Promise<string> {
  return (await runCommand("git", ["-C", copy, "rev-parse", "HEAD"])).trim();
}

/** How many answers differ; the first of them are printed. */
async function compare(
  subject: Subject,
  questions: readonly unknown[],
  answers: readonly unknown[],
): Promise<number> {
  const compared = comparedOf(subject, questions, answers).map(async (theirs, at) => ({
    given: questions[at],
    theirs,
    ours: plain(await subject.ours(questions[at], answers[at])),
  }));
  const differing = (await Promise.all(compared)).filter(({ theirs, ours }) => !isDeepStrictEqual(theirs, ours));
  print(`${subject.name}: ${answers.length - differing.length} of ${answers.length} as the original`);
  for (const one of differing.slice(0, 3)) print(JSON.stringify(one));
  return differing.length;
}

/** How many turns of the whole render controller differ: it takes minutes, and a control plane. */
async function compareWhole(copy: string, options: { readonly record: boolean }): Promise<number> {
  const differing = await compareRendering(copy, options);
  print(`rendering: ${differing.length === 0 ? "as recorded" : `differs at ${differing.join(", ")}`}`);
  return differing.length;
}

async function main(): Promise<number> {
  const { copies, only, record } = parseArgs({
    options: { copies: { type: "string" }, only: { type: "string" }, record: { type: "boolean" } },
  }).values;
  if (copies === undefined) {
    print(HELP);
    return 2;
  }
  let differences = 0;
  for (const subject of SUBJECTS.filter(({ name }) => only === undefined || name === only)) {
    const copy = `${copies}/${subject.original}`;
    const questions = questionsOf(subject);
    const answers = await askAll(copy, subject, questions);
    differences += await compare(subject, questions, answers);
    if (record) await writeRecord(subject, await commitOf(copy), answers);
  }
  if (only === undefined || only === "rendering") {
    differences += await compareWhole(`${copies}/machine-config-operator`, { record: record === true });
  }
  return differences === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
