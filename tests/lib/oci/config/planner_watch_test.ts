import assert from "node:assert/strict";
import type { PullPlannerHandle } from "../../../../lib/oci/config/planner.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/until.ts";
import { keepLog } from "../../../support/logs.ts";
import { makeFolder, openPlanner, planned } from "./planner_support.ts";

const MOVE = (location: string): string => `[[registry]]\nprefix = "quay.io"\nlocation = "${location}"\n`;
const IMAGE = "quay.io/a/b";

async function untilPlanned(planner: PullPlannerHandle, wanted: readonly string[]): Promise<void> {
  await until(`planned: ${wanted}`, () => JSON.stringify(planned(planner, IMAGE)) === JSON.stringify(wanted));
}

async function whileWatching(planner: PullPlannerHandle, act: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const watching = planner.watch(stop.signal);
  try {
    await act();
  } finally {
    stop.abort();
    await watching;
  }
}

Deno.test("DV-106 watch() puts an edited registries.conf in force", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io") });
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  await whileWatching(planner, async () => {
    await untilPlanned(planner, ["one.io/a/b"]);
    folder.write("registries.conf", MOVE("two.io"));
    await untilPlanned(planner, ["two.io/a/b"]);
    folder.write("next.conf", MOVE("three.io"));
    Deno.renameSync(`${folder.path}/next.conf`, `${folder.path}/registries.conf`);
    await untilPlanned(planner, ["three.io/a/b"]);
  });
});

Deno.test("DV-106 watch() sees drop-ins come and go, also in a folder that was not there", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io") });
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  await whileWatching(planner, async () => {
    folder.write("registries.conf.d/a.conf", MOVE("drop.io"));
    await untilPlanned(planner, ["drop.io/a/b"]);
    Deno.removeSync(`${folder.path}/registries.conf.d/a.conf`);
    await untilPlanned(planner, ["one.io/a/b"]);
  });
});

Deno.test("watch() sees a mounted ConfigMap change underneath its links", async () => {
  using folder = makeFolder({
    "..v1/registries.conf": MOVE("one.io"),
    "..v2/registries.conf": MOVE("two.io"),
  });
  Deno.symlinkSync("..v1", `${folder.path}/..data`);
  Deno.symlinkSync("..data/registries.conf", `${folder.path}/registries.conf`);
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  await whileWatching(planner, async () => {
    await untilPlanned(planner, ["one.io/a/b"]);
    Deno.symlinkSync("..v2", `${folder.path}/..data_tmp`);
    Deno.renameSync(`${folder.path}/..data_tmp`, `${folder.path}/..data`);
    await untilPlanned(planner, ["two.io/a/b"]);
  });
});

Deno.test("watch() keeps the last good file in force when an edit breaks it, and reports that once", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io"), "registries.conf.d/x.conf": "" });
  const log = keepLog();
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf`, log });
  await whileWatching(planner, async () => {
    folder.write("registries.conf", `${MOVE("two.io")}[[registry]]\nblocked = true\n`);
    folder.write("registries.conf.d/x.conf", '[[registry]]\nlocation = "x.io"\n');
    await until("a problem", () => planner.problems().length > 0);
    assert.deepEqual(planned(planner, IMAGE), ["one.io/a/b"]);
    assert.deepEqual(planner.problems().map(({ line, message }) => [line, message]), [
      [4, "a registry without prefix and location"],
    ]);
    folder.write("registries.conf.d/x.conf", '[[registry]]\nlocation = "quay.io/a"\nblocked = true');
    await untilPlanned(planner, ["one.io/a/b"]);
    folder.write("registries.conf", MOVE("three.io"));
    folder.write("registries.conf.d/x.conf", "");
    await untilPlanned(planner, ["three.io/a/b"]);
    assert.deepEqual(planner.problems(), []);
  });
  assert.equal(log.lines.filter(({ message }) => message.startsWith("cannot use")).length, 1);
});

Deno.test("watch() looks now and then where the kernel does not tell", async () => {
  using folder = makeFolder({ "a/registries.conf": MOVE("one.io") });
  const clock = new FakeClock();
  // The folder of the file is a link to elsewhere: a write there makes no event in the folder that is watched.
  Deno.symlinkSync(`${folder.path}/a/registries.conf`, `${folder.path}/link.conf`);
  const planner = openPlanner({ registriesConf: `${folder.path}/link.conf`, clock });
  await whileWatching(planner, async () => {
    await clock.advance(1);
    folder.write("a/registries.conf", MOVE("seen.io"));
    await clock.advance(5_000);
    assert.deepEqual(planned(planner, IMAGE), ["one.io/a/b"]);
    await clock.advance(6_000);
    assert.deepEqual(planned(planner, IMAGE), ["seen.io/a/b"]);
  });
});
