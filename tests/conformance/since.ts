// Which test files of rows are not as they were at the commit of the record: what ran then may prove something else today.
import { relative } from "node:path";
import { git, isAncestor } from "../support/git.ts";
import { parseClaim } from "./claims.ts";
import { type Reason, REASONS } from "./reasons.ts";
import { isProof, type Proof, type RunRecord } from "./run_record.ts";
import { type ListedTest, listFiles, listTests, matchLiterals, stepsIn } from "./sources.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

export interface Since {
  /** Where the sources are now. */
  readonly head: string;
  /** Of the files that hold tests and steps of rows: those that changed, from the root of the repository. */
  readonly files: readonly string[];
  /** Rows with a proof in these files, and all that have a proof. */
  readonly rows: number;
  readonly of: number;
}

interface Sources {
  readonly tests: readonly ListedTest[];
  readonly steps: readonly { readonly file: string; readonly text: string }[];
}

/** Compares the commit of the record with these sources, committed or not. Throws where git does not have the commit. */
export async function readSince({ about: { commit }, proofs }: RunRecord): Promise<Since> {
  if (!await isAncestor(commit)) throw new Error(`Cannot compare the tests: this tree does not come from ${commit}`);
  const lists = [await git("diff", "--name-only", commit, "--", "tests"), await git("ls-files", "-o", "--", "tests")];
  const changed = new Set(lists.flatMap((list) => list.split("\n")));
  const steps = listFiles(`${ROOT}tests`).filter((path) => !path.startsWith(`${ROOT}tests/conformance/`))
    .map((path) => ({ file: relative(ROOT, path), text: Deno.readTextFileSync(path) }));
  const tests = (await listTests()).map(({ name, file }) => ({ name, file: relative(ROOT, file) }));
  return { head: await git("rev-parse", "HEAD"), ...countSince({ proofs, changed }, { tests, steps }, REASONS) };
}

/** Pure. */
export function countSince(
  { proofs, changed }: { readonly proofs: readonly Proof[]; readonly changed: ReadonlySet<string> },
  { tests, steps }: Sources,
  reasons: readonly Reason[],
): Omit<Since, "head"> {
  const holders = steps.map(({ file, text }) => ({ file, holds: matchLiterals([text]), names: stepsIn(text) }));
  const filesOf = ({ name, isStep }: Proof): readonly string[] =>
    isStep
      ? holders.filter(({ holds }) => holds(name)).map(({ file }) => file)
      : tests.filter((test) => test.name === name).map(({ file }) => file);
  const rowsOf = (some: readonly Proof[]): number =>
    new Set(some.flatMap(({ name }) => [
      ...parseClaim(name).ids,
      ...reasons.filter(({ by }) => by === name).flatMap(({ ids }) => parseClaim(ids.join(" ")).ids),
    ])).size;
  const today = [
    ...tests.filter(({ name }) => isProof(name, reasons)),
    ...holders.filter(({ names }) => names.some((name) => isProof(name, reasons))),
  ].map(({ file }) => file);
  const files = new Set([...today, ...proofs.flatMap(filesOf)].filter((file) => changed.has(file)));
  return {
    files: [...files].toSorted(),
    rows: rowsOf(proofs.filter((proof) => filesOf(proof).some((file) => files.has(file)))),
    of: rowsOf(proofs),
  };
}
