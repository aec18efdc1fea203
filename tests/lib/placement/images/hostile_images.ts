// Run as a process of its own: reads as many hostile images as the argument says, and prints what the heap holds after it.
import { makeUse, openImageBed } from "../../../support/image_bed.ts";

const PLATFORMS = 1_000;

const bed = openImageBed();
bed.registry.platforms = (image) =>
  Array.from({ length: PLATFORMS }, (_, at) => ({
    os: `${image}${at}`.slice(-64).padEnd(64, "s"),
    architecture: `${at}${image}`.slice(0, 64).padEnd(64, "c"),
    variant: `v${at}`.padEnd(64, "v"),
  }));
for (let at = 0; at < Number(Deno.args[0]); at++) {
  const image = `registry.example/evil/image:t${at}`;
  await bed.inspect(makeUse(`${image}@sha256:${at.toString(16).padStart(64, "0")}`));
}
Reflect.get(globalThis, "gc")?.();
const heapMb = Math.round(Deno.memoryUsage().heapUsed / 1e6);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ heapMb })));
