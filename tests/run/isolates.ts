// Test files that share an isolate. A run of each file in one of its own spends two thirds of its processor time on loading the
// same modules again; a module that imports a group of test files loads them once for all of these. JUnit and failures name the
// file that a test stands in all the same.
import type { Part } from "./parts.ts";

/** They check what loading does, and would find everything loaded. */
const ALONE: readonly string[] = ["tests/architecture_test.ts"];

/** What is given to `deno test` instead of a part's paths. */
export interface Isolates extends AsyncDisposable {
  readonly paths: readonly string[];
}

/** The groups of files that share an isolate: about as many files of each folder in each. */
export function groupFiles(files: readonly string[], isolates: number): readonly (readonly string[])[] {
  const sorted = files.filter((file) => !ALONE.includes(file)).toSorted();
  const groups = Array.from({ length: isolates }, (_, group) => sorted.filter((_, at) => at % isolates === group));
  return groups.filter(({ length }) => length > 0);
}

/** The files that must have an isolate of their own. */
export function filesAlone(files: readonly string[]): readonly string[] {
  return files.filter((file) => ALONE.includes(file));
}

/** The test files of a part, from the root of the repository. */
export function listTestFiles({ paths, ignored }: Pick<Part, "paths" | "ignored">): readonly string[] {
  const list = (path: string): readonly string[] => {
    if (ignored.includes(path)) return [];
    if (!Deno.statSync(path).isDirectory) return /_test\.tsx?$/.test(path) ? [path] : [];
    return [...Deno.readDirSync(path)].flatMap(({ name }) => list(`${path}/${name}`));
  };
  return paths.flatMap(list);
}

/** Writes the modules that import the groups, to be removed after the run. */
export async function writeIsolates(part: Part): Promise<Isolates> {
  const files = listTestFiles(part);
  const folder = await Deno.makeTempDir({ prefix: "archway-isolates-" });
  const written = groupFiles(files, part.isolates).map((group, at) => {
    const path = `${folder}/${part.name}_${at + 1}_test.ts`;
    const imports = group.map((file) => `import ${JSON.stringify(new URL(file, `file://${Deno.cwd()}/`).href)};\n`);
    Deno.writeTextFileSync(path, imports.join(""));
    return path;
  });
  return {
    paths: [...filesAlone(files), ...written],
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
