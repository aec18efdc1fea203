// Prints the names of all tests as JSON without running one. Runs in a process of its own, since it takes Deno.test away from
// the files it loads.
import { listFiles } from "./sources.ts";

const names: string[] = [];

/** Stands in for Deno.test in the forms that the tests use. What this machine would skip counts as well. */
function note(test: string | { readonly name: string }): void {
  names.push(typeof test === "string" ? test : test.name);
}

Object.defineProperty(Deno, "test", { value: Object.assign(note, { ignore: () => {}, only: note }) });
const files = listFiles(new URL("../", import.meta.url).pathname).filter((file) => /_test\.tsx?$/.test(file));
for (const file of files) await import(`file://${file}`);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(names)));
