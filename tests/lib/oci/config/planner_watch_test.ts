import assert from "node:assert/strict";
import { FakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/until.ts";
import { keepLog } from "../../../support/logs.ts";
import { makeFolder, openPlanner, planned } from "./planner_support.ts";

const MOVE = (location: string): string => `[[registry]]\nprefix = "quay.io"\nlocation = "${location}"\n`;
const IMAGE = "quay.io/a/b";

const openFollowing = (given: Parameters<typeof openPlanner>[0]) => {
  const clock = new FakeClock();
  const planner = openPlanner({ ...given, clock });
  const untilPlanned = (wanted: string): Promise<void> =>
    until(`planned: ${wanted}`, () => planned(planner, IMAGE)[0] === wanted, () => clock.advance(1_000));
  return { clock, planner, untilPlanned };
};

Deno.test("DV-106 watch() puts an edited registries.conf in force", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io") });
  const { untilPlanned } = openFollowing({ registriesConf: `${folder.path}/registries.conf` });
  await untilPlanned("one.io/a/b");
  folder.write("registries.conf", MOVE("two.io"));
  await untilPlanned("two.io/a/b");
  folder.write("next.conf", MOVE("three.io"));
  Deno.renameSync(`${folder.path}/next.conf`, `${folder.path}/registries.conf`);
  await untilPlanned("three.io/a/b");
});

Deno.test("DV-106 watch() sees drop-ins come and go, also in a folder that was not there", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io") });
  const { untilPlanned } = openFollowing({ registriesConf: `${folder.path}/registries.conf` });
  folder.write("registries.conf.d/a.conf", MOVE("drop.io"));
  await untilPlanned("drop.io/a/b");
  Deno.removeSync(`${folder.path}/registries.conf.d/a.conf`);
  await untilPlanned("one.io/a/b");
});

Deno.test("plan() sees a mounted ConfigMap change underneath its links", async () => {
  using folder = makeFolder({
    "..v1/registries.conf": MOVE("one.io"),
    "..v2/registries.conf": MOVE("two.io"),
  });
  Deno.symlinkSync("..v1", `${folder.path}/..data`);
  Deno.symlinkSync("..data/registries.conf", `${folder.path}/registries.conf`);
  const { untilPlanned } = openFollowing({ registriesConf: `${folder.path}/registries.conf` });
  await untilPlanned("one.io/a/b");
  Deno.symlinkSync("..v2", `${folder.path}/..data_tmp`);
  Deno.renameSync(`${folder.path}/..data_tmp`, `${folder.path}/..data`);
  await untilPlanned("two.io/a/b");
});

Deno.test("plan() keeps the last good file in force when an edit breaks it, and reports that once", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io"), "registries.conf.d/x.conf": "" });
  const log = keepLog();
  const { clock, planner, untilPlanned } = openFollowing({ registriesConf: `${folder.path}/registries.conf`, log });
  folder.write("registries.conf", `${MOVE("two.io")}[[registry]]\nblocked = true\n`);
  folder.write("registries.conf.d/x.conf", '[[registry]]\nlocation = "x.io"\n');
  const isSaid = (): boolean => planned(planner, IMAGE)[0] === "one.io/a/b" && planner.problems().length > 0;
  await until("a problem", isSaid, () => clock.advance(1_000));
  assert.deepEqual(planner.problems().map(({ line, message }) => [line, message]), [
    [4, "a registry without prefix and location"],
  ]);
  folder.write("registries.conf.d/x.conf", '[[registry]]\nlocation = "quay.io/a"\nblocked = true');
  await untilPlanned("one.io/a/b");
  folder.write("registries.conf", MOVE("three.io"));
  folder.write("registries.conf.d/x.conf", "");
  await untilPlanned("three.io/a/b");
  assert.equal(planner.problems().length, 1);
  assert.equal(log.lines.at(-1)?.fields["problems"], 0);
});

Deno.test("plan() looks at the files at most once a second", async () => {
  using folder = makeFolder({ "registries.conf": MOVE("one.io") });
  const { clock, planner } = openFollowing({ registriesConf: `${folder.path}/registries.conf` });
  folder.write("registries.conf", MOVE("three.io"));
  await clock.advance(999);
  assert.deepEqual(planned(planner, IMAGE), ["one.io/a/b"]);
  await clock.advance(1);
  assert.deepEqual(planned(planner, IMAGE), ["three.io/a/b"]);
});
