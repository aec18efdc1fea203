// The load generator as a process of its own, so that it takes no time from what is measured nor from what watches it:
// `load_process.ts LOAD`, a Load as JSON; prints a LoadResult as JSON.
import { type Load, sendLoad } from "./load.ts";

const load: Load = JSON.parse(Deno.args[0] ?? "{}");
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(await sendLoad(load))));
