import { runWalk, WALKS } from "../support/walk/walks.ts";
import { withWalk } from "./walk_bed.ts";

for (const walk of WALKS) {
  Deno.test(`playground: ${walk.name}`, async (t) => {
    await withWalk({ ...walk.setting, prepare: walk.prepare }, (subject) => runWalk(t, subject, walk));
  });
}
