// Which test files of a part are run once more, and what counts then. Pure.
//
// Tests of files, servers, control planes and nodes hold the product to limits of time while etcd, API server, kubelets and other
// tests share the machine's cores. A file that fails there runs once more with nothing beside it, and that run counts: a fault of the code
// fails again, a want of processor time does not. The run names every such file.
import type { RanTest } from "../conformance/junit.ts";
import type { Part } from "./parts.ts";

/** More files than this are no want of processor time. */
const MOST_FILES = 10;

/**
 * The files of failed tests, and those of which no test is known: they may not have been loaded, or their nodes did not come up.
 * None of pure decisions, or where too much failed.
 */
export function filesToRunAgain(
  part: Pick<Part, "name">,
  { tests, files }: { readonly tests: readonly RanTest[]; readonly files: readonly string[] },
): readonly string[] {
  if (part.name === "pure") return [];
  const failed = tests.filter(({ outcome }) => outcome === "failed").map(({ file }) => file);
  const known = new Set(tests.map(({ file }) => file));
  const again = [...new Set([...failed, ...files.filter((file) => !known.has(file))])];
  return known.size === 0 || again.length > MOST_FILES ? [] : again;
}

/** The tests of a first run, with those of the files that ran again in the place of the ones they had. */
export function replaceFiles(first: readonly RanTest[], second: readonly RanTest[]): readonly RanTest[] {
  const files = new Set(second.map(({ file }) => file));
  return [...first.filter(({ file }) => !files.has(file)), ...second];
}
