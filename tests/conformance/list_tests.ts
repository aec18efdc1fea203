// Prints the names of all tests and their files as JSON without running one. Runs in a process of its own, since it takes
// Deno.test away from the files it loads.
import { listFiles } from "./sources.ts";

const tests: { readonly name: string; readonly file: string }[] = [];
let file = "";

/** Stands in for Deno.test in the forms that the tests use. What this machine would skip counts as well. */
function note(test: string | { readonly name: string }): void {
  tests.push({ name: typeof test === "string" ? test : test.name, file });
}

Object.defineProperty(Deno, "test", { value: Object.assign(note, { ignore: () => {}, only: note }) });
for (const path of listFiles(new URL("../", import.meta.url).pathname).filter((path) => /_test\.tsx?$/.test(path))) {
  file = path;
  await import(`file://${path}`);
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(tests)));
