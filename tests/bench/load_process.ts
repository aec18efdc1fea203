// The load generator as a process of its own, so that it takes no time from what is measured nor from what watches it:
// a Load as JSON comes in, a LoadResult as JSON goes out.
import { type Load, sendLoad } from "./load.ts";

const load: Load = JSON.parse(await new Response(Deno.stdin.readable).text());
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(await sendLoad(load))));
